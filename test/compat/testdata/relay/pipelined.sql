## Several commands in one piece before any reply is read.
# modes autocommit
CREATE TABLE t (a INT PRIMARY KEY)
# body
# pipeline
SELECT 1
INSERT INTO t VALUES (1), (2)
INSERT INTO t VALUES (1)
# cmd ping
SELECT * FROM t
SELECT 2; SELECT 3
SELEKT
# cmd init_db $S
# end
# prepare p SELECT ?
# pipeline
# execute p int=1
# close p
SELECT 4
# prepare q INSERT INTO t VALUES (?)
# end
# pipeline
# execute q int=10
# long q 0 12
# execute q long
# reset q
# execute q int=11
# repeat 50 INSERT INTO t VALUES (100 + $i)
SELECT COUNT(*) FROM t
# end
# pipeline
# infile 20<0A>
# cmd ping
SELECT COUNT(*) FROM t
# end
# pipeline
SELECT 5
# cmd quit
# end
