## A server that takes no files from clients.
# modes autocommit
# global local_infile=0
CREATE TABLE t (a INT)
# body
# infile 1<0A>
LOAD DATA LOCAL INFILE 'x' INTO TABLE t
SELECT 1; LOAD DATA LOCAL INFILE 'x' INTO TABLE t; SELECT 2
SELECT COUNT(*) FROM t
