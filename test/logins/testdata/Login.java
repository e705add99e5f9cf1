import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Properties;

/**
 * Logs in by MariaDB Connector/J as each line of standard input says and answers with a
 * line; ../doc.go has the form of both. The certificates to trust are in the file
 * SLUICE_TEST_CA.
 */
public class Login {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            System.out.println(answer(line.split("\t", -1)));
        }
    }

    private static String answer(String[] login) {
        Properties options = new Properties();
        options.setProperty("user", login[2]);
        options.setProperty("password", login[3]);
        options.setProperty("allowPublicKeyRetrieval", "true");
        if (login[4].equals("1")) {
            options.setProperty("useSsl", "true");
            options.setProperty("serverSslCert", System.getenv("SLUICE_TEST_CA"));
        }
        options.setProperty("useCompression", login[5].equals("1") ? "true" : "false");
        String url = "jdbc:mariadb://" + login[0] + ":" + login[1] + "/";
        try (Connection db = DriverManager.getConnection(url, options);
                ResultSet rows = db.createStatement().executeQuery("SELECT CURRENT_USER(), CONNECTION_ID()")) {
            rows.next();
            return "ok\t" + rows.getString(1) + "\t" + rows.getString(2);
        } catch (SQLException e) {
            return "no\t" + e.getErrorCode() + "\t" + e.getMessage().replaceAll("\\s+", " ");
        }
    }
}
