# login.pl DRIVER: the driver is mysql or MariaDB. Logs in as each line of standard input
# says and answers with a line; ../doc.go has the form of both. The certificates to trust
# are in the file SLUICE_TEST_CA.
use strict;
use warnings;
use DBI;

my ($driver) = @ARGV;
my $prefix = lc $driver;
$| = 1;
while (my $line = <STDIN>) {
	chomp $line;
	my ($host, $port, $user, $password, $tls, $compress) = split /\t/, $line;
	my $dsn = "DBI:$driver:host=$host;port=$port;${prefix}_compression=$compress";
	$dsn .= ";${prefix}_ssl=1;${prefix}_ssl_ca_file=$ENV{SLUICE_TEST_CA}" if $tls;
	$dsn .= $driver eq 'mysql' ? ';mysql_ssl_optional=1' : ';mariadb_ssl_verify_server_cert=1' if $tls;
	my $db = DBI->connect($dsn, $user, $password, { RaiseError => 0, PrintError => 0 });
	my @row = $db ? $db->selectrow_array('SELECT CURRENT_USER(), CONNECTION_ID()') : ();
	if (@row) {
		print join("\t", 'ok', @row), "\n";
	} else {
		my ($code, $text) = ($DBI::err, $DBI::errstr);
		$text =~ s/\s+/ /g;
		print "no\t$code\t$text\n";
	}
	$db->disconnect if $db;
}
