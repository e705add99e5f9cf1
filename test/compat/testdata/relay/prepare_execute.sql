## MariaDB: a statement prepared and executed in one piece, as the newest one.
# servers mariadb
# modes autocommit
CREATE TABLE t (a INT PRIMARY KEY, s VARCHAR(10))
# body
# pipeline
# prepare p INSERT INTO t VALUES (?, ?)
# execute p int=1 | str=a
# execute p int=2 | str=b
# end
# execute p int=3 | str=c
# pipeline
# prepare q SELECT * FROM t WHERE a > ?
# execute q int=1
# close q
SELECT 1
# end
# pipeline
# prepare bad SELEKT ?
# execute bad int=1
# end
SELECT COUNT(*) FROM t
