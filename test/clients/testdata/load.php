<?php
// load.php mysqli|pdo ADDRESS SCHEMA TABLE ROWS: the address is HOST:PORT or the
// path of a socket. PDO emulates prepared statements, as it does by default.
// SLUICE_TEST_COMPRESS asks for compression.
[, $library, $address, $schema, $table, $file] = $argv;
$socket = $address[0] === '/' ? $address : null;
$compress = (bool) getenv('SLUICE_TEST_COMPRESS');
[$host, $port] = $socket ? ['localhost', 0] : explode(':', $address);

$rows = [];
foreach (file($file, FILE_IGNORE_NEW_LINES) as $line) {
    $rows[] = array_map(fn ($field) => $field === '-' ? null : hex2bin($field), explode("\t", $line));
}
$columns = 'id, word, score, payload, note';
$select = "SELECT HEX(id), HEX(word), HEX(CONCAT(score, '')), HEX(payload), HEX(note) FROM $table ORDER BY $table.id";

if ($library === 'mysqli') {
    mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);
    $db = mysqli_init();
    $db->real_connect($host, 'app', 'app', $schema, (int) $port, $socket, $compress ? MYSQLI_CLIENT_COMPRESS : 0);
    $db->set_charset('utf8mb4');
    $begin = fn () => $db->begin_transaction();
    $commit = fn () => $db->commit();
    $insert = function (array $row) use ($db, $table, $columns) {
        $values = array_map(fn ($v) => $v === null ? 'NULL' : "'" . $db->real_escape_string($v) . "'", $row);
        $values[0] = (int) $row[0];
        $values[3] = '_binary' . $values[3];
        $db->query("INSERT INTO $table ($columns) VALUES (" . implode(', ', $values) . ')');
        return $db->affected_rows;
    };
    $read = fn () => $db->query($select)->fetch_all(MYSQLI_NUM);
} else {
    $where = $socket ? "unix_socket=$socket" : "host=$host;port=$port";
    $db = new PDO("mysql:$where;dbname=$schema;charset=utf8mb4", 'app', 'app', [
        PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
        PDO::ATTR_EMULATE_PREPARES => true,
        PDO::MYSQL_ATTR_COMPRESS => $compress,
    ]);
    $begin = fn () => $db->beginTransaction();
    $commit = fn () => $db->commit();
    $statement = $db->prepare("INSERT INTO $table ($columns) VALUES (?, ?, ?, ?, ?)");
    $insert = function (array $row) use ($statement) {
        $statement->bindValue(1, (int) $row[0], PDO::PARAM_INT);
        $statement->bindValue(2, $row[1]);
        $statement->bindValue(3, $row[2]);
        $statement->bindValue(4, $row[3], PDO::PARAM_LOB);
        $statement->bindValue(5, $row[4]);
        $statement->execute();
        return $statement->rowCount();
    };
    $read = fn () => $db->query($select)->fetchAll(PDO::FETCH_NUM);
}

foreach ($rows as $i => $row) {
    $inTransaction = $i >= count($rows) / 2;
    if ($inTransaction && $i % 100 === 0) {
        $begin();
    }
    if ($insert($row) !== 1) {
        throw new RuntimeException("row $row[0]: not one row");
    }
    if ($inTransaction && $i % 100 === 99) {
        $commit();
    }
}
foreach ($read() as $row) {
    echo implode("\t", array_map(fn ($v) => $v ?? '-', $row)), "\n";
}
