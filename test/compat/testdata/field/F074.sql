## What is in a file is data, whatever it looks like.
# modes autocommit
# large
# schema other
# ordinary INSERT INTO t VALUES ('$i')
CREATE TABLE t (s LONGTEXT)
# body
# infile <17 x5000000>|<17 x5000000>|<0A>
LOAD DATA LOCAL INFILE 'executes' INTO TABLE t
# infile  USE $S_other<0A>|INSERT INTO t VALUES(99)<0A>|<03>SELECT 1<0A>|<01>|<16>SELECT ?|<0A>
LOAD DATA LOCAL INFILE 'statements' INTO TABLE t
SELECT DATABASE()
SELECT COUNT(*), SUM(LENGTH(s)) FROM t WHERE s NOT LIKE '1000%'
# stored SELECT COUNT(*), SUM(LENGTH(s)) FROM t => 5,10000063
