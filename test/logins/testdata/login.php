<?php
// login.php mysqli|pdo: logs in as each line of standard input says and answers with a
// line; ../doc.go has the form of both. The certificates to trust are in the file
// SLUICE_TEST_CA.
$library = $argv[1];
$ca = getenv('SLUICE_TEST_CA');
mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);
$select = 'SELECT CURRENT_USER(), CONNECTION_ID()';

function mysqliRow(array $login, string $ca, string $select): array
{
    [$host, $port, $user, $password, $tls, $compress] = $login;
    $db = mysqli_init();
    if ($tls) {
        $db->ssl_set(null, null, $ca, null, null);
    }
    $flags = ($tls ? MYSQLI_CLIENT_SSL : 0) | ($compress ? MYSQLI_CLIENT_COMPRESS : 0);
    $db->real_connect($host, $user, $password, null, (int) $port, null, $flags);
    return $db->query($select)->fetch_row();
}

function pdoRow(array $login, string $ca, string $select): array
{
    [$host, $port, $user, $password, $tls, $compress] = $login;
    $options = [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::MYSQL_ATTR_COMPRESS => (bool) $compress];
    if ($tls) {
        $options[PDO::MYSQL_ATTR_SSL_CA] = $ca;
    }
    $db = new PDO("mysql:host=$host;port=$port", $user, $password, $options);
    return $db->query($select)->fetch(PDO::FETCH_NUM);
}

while (($line = fgets(STDIN)) !== false) {
    $login = explode("\t", rtrim($line, "\n"));
    try {
        // Warnings come before some exceptions, with the same text.
        $row = @($library === 'mysqli' ? mysqliRow($login, $ca, $select) : pdoRow($login, $ca, $select));
        echo "ok\t", implode("\t", $row), "\n";
    } catch (mysqli_sql_exception | PDOException $e) {
        $code = $e instanceof PDOException && isset($e->errorInfo[1]) ? $e->errorInfo[1] : $e->getCode();
        echo "no\t$code\t", preg_replace('/\s+/', ' ', $e->getMessage()), "\n";
    }
}
