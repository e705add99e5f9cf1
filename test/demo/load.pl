#!/usr/bin/perl
# The loader of the demo: an ordinary Perl DBI script that sends a reverse index
# row by row. It knows nothing of sluice; DBI_DSN says which server it talks to.
#
#   load.pl FILE ROWS_PER_TRANSACTION [SECONDS]
#
# FILE has one row a line: word, score, location_id, y, with tabs between.
# ROWS_PER_TRANSACTION 0 is autocommit. It stops early when SECONDS have passed.
# DBI_USER and DBI_PASS are the login.
# It reports on standard output: "ready", "rows N" several times a second,
# "sent N SECONDS" when the last row (and COMMIT) was answered, and "count N"
# when the server has counted the table.
use strict;
use warnings;
use DBI;
use Time::HiRes qw(time);

my ($file, $per_transaction, $seconds) = @ARGV;
defined $per_transaction or die "usage: load.pl FILE ROWS_PER_TRANSACTION [SECONDS]\n";

$| = 1;
open my $in, '<', $file or die "open $file: $!\n";
my $dbh = DBI->connect($ENV{DBI_DSN}, $ENV{DBI_USER}, $ENV{DBI_PASS},
    { RaiseError => 1, PrintError => 0, AutoCommit => $per_transaction ? 0 : 1 });
print "ready\n";

my ($sent, $start) = (0, time);
my $shown = $start;
while (my $line = <$in>) {
    chomp $line;
    my ($word, $score, $location_id, $y) = split /\t/, $line;
    $dbh->do('INSERT IGNORE INTO ReverseIndex (word, score, location_id, y) VALUES ('
        . $dbh->quote($word) . ", $score, $location_id, $y)");
    $sent++;
    $dbh->commit if $per_transaction && $sent % $per_transaction == 0;
    next if $sent % 16;
    my $now = time;
    if ($now - $shown >= 0.2) {
        print "rows $sent\n";
        $shown = $now;
    }
    last if $seconds && $now - $start >= $seconds;
}
$dbh->commit if $per_transaction;
printf "sent %d %.6f\n", $sent, time - $start;

my ($count) = $dbh->selectrow_array('SELECT COUNT(*) FROM ReverseIndex');
$dbh->commit if $per_transaction;
print "count $count\n";
$dbh->disconnect;
