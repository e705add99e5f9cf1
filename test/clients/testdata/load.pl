# load.pl DRIVER ADDRESS SCHEMA TABLE ROWS: the driver is mysql or MariaDB, the
# address HOST:PORT or the path of a socket. SLUICE_TEST_COMPRESS asks for compression.
use strict;
use warnings;
use DBI;

my ($driver, $address, $schema, $table, $file) = @ARGV;
my ($host, $port) = split /:/, $address;
my $prefix = lc $driver;
my $dsn = "DBI:$driver:database=$schema;"
	. ($address =~ m{^/} ? "${prefix}_socket=$address" : "host=$host;port=$port");
$dsn .= ";${prefix}_compression=1" if $ENV{SLUICE_TEST_COMPRESS};
my $db = DBI->connect($dsn, 'app', 'app', { RaiseError => 1, PrintError => 0, AutoCommit => 1 });
$db->do('SET NAMES utf8mb4');

my @rows;
open my $in, '<', $file or die "$file: $!";
while (<$in>) {
	chomp;
	push @rows, [ map { $_ eq '-' ? undef : pack 'H*', $_ } split /\t/ ];
}
close $in;

my $insert = $db->prepare("INSERT INTO $table (id, word, score, payload, note) VALUES (?, ?, ?, ?, ?)");

sub insert {
	my ($id, $word, $score, $payload, $note) = @{ $_[0] };
	# DBD::MariaDB has characters for text and bytes for binary columns.
	utf8::decode($word) if $driver eq 'MariaDB';
	utf8::decode($note) if $driver eq 'MariaDB' && defined $note;
	$insert->bind_param(1, $id, DBI::SQL_INTEGER);
	$insert->bind_param(2, $word, DBI::SQL_VARCHAR);
	$insert->bind_param(3, $score, DBI::SQL_VARCHAR);
	$insert->bind_param(4, $payload, DBI::SQL_BINARY);
	$insert->bind_param(5, $note, DBI::SQL_VARCHAR);
	$insert->execute == 1 or die "row $id: not one row";
}

my $half = @rows / 2;
insert($_) for @rows[0 .. $half - 1];
for (my $first = $half; $first < @rows; $first += 100) {
	$db->begin_work;
	insert($_) for @rows[$first .. $first + 99];
	$db->commit;
}

my $read = $db->prepare("SELECT HEX(id), HEX(word), HEX(CONCAT(score, '')), HEX(payload), HEX(note) FROM $table ORDER BY $table.id");
$read->execute;
while (my @row = $read->fetchrow_array) {
	print join("\t", map { defined $_ ? $_ : '-' } @row), "\n";
}
$db->disconnect;
