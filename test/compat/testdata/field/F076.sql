## A file of the server, and spellings of LOCAL: the server's request decides.
# ordinary INSERT INTO t VALUES ($i, 'ordinary')
CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(100))
# body
LOAD DATA INFILE '/var/lib/mysql-files/x' INTO TABLE t
# infile 1<09>versioned<0A>
LOAD /*!32302 LOCAL*/ DATA INFILE 'x' INTO TABLE t
# infile 2<09>after DATA<0A>
LOAD DATA /*!32302 LOCAL */ INFILE 'x' INTO TABLE t
# infile <3C>row id="3" s="xml"/>
LOAD XML LOCAL INFILE 'x.xml' INTO TABLE t
LOAD DATA /* LOCAL */ INFILE '/no/such/file' INTO TABLE t
LOAD DATA INFILE 'LOCAL INFILE' INTO TABLE t
SELECT id, s FROM t WHERE id < 100
# conn root user=root password=
LOAD DATA INFILE '/no/such/file' INTO TABLE t
SELECT 1
