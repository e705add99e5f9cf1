## MariaDB: the newest statement is the client's newest, though sluice has prepared one to check a burst.
# servers mariadb
# modes autocommit
CREATE TABLE t (a INT PRIMARY KEY, s VARCHAR(10))
# body
# pipeline
# prepare p INSERT INTO t VALUES (?, ?)
# repeat 40 INSERT INTO t VALUES (10$i, 'burst')
# execute p int=1 | str=a
# long p 1 bbb
# execute p int=2 | long
# end
# pipeline
# prepare bad SELEKT ?
# repeat 40 INSERT INTO t VALUES (20$i, 'burst')
# execute bad int=1
# end
# pipeline
# prepare q SELECT COUNT(*) FROM t WHERE a > ?
# close q
# repeat 40 INSERT INTO t VALUES (30$i, 'burst')
# execute q int=1
# end
SELECT COUNT(*) FROM t
