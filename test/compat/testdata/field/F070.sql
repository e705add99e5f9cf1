## LOAD DATA LOCAL: the file is the client's, whatever its name.
# ordinary INSERT INTO t VALUES ($i, 'ordinary')
CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(100))
# body
# infile 1<09>only the client<0A>2<09>has it<0A>
LOAD DATA LOCAL INFILE '/no/such/directory/client.txt' INTO TABLE t
# infile 3<09>said the client<0A>
LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE t
LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t
# infile 1<09>replaced<0A>
LOAD DATA CONCURRENT LOCAL INFILE 'a' REPLACE INTO TABLE t
# infile 1<09>ignored<0A>4<09>new<0A>
LOAD DATA LOCAL INFILE 'a' IGNORE INTO TABLE t
# infile 1<09>a duplicate in LOCAL is a warning<0A>5<09>new<0A>
LOAD DATA LOCAL INFILE 'a' INTO TABLE t
SHOW WARNINGS
# stored SELECT GROUP_CONCAT(id, s ORDER BY id SEPARATOR '|') FROM t => 1replaced|2has it|3said the client|4new|5new
