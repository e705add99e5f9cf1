## The same text prepared several times gives independent statements; close has no reply.
# ordinary INSERT INTO t VALUES ($i)
CREATE TABLE t (a INT PRIMARY KEY)
# body
# prepare a INSERT INTO t VALUES (?)
# prepare b INSERT INTO t VALUES (?)
# prepare c INSERT INTO t VALUES (?)
# prepare d INSERT INTO t VALUES (?)
# execute a int=1
# execute c int=2
# execute b int=3
# execute a nobind int=4
# close a
# close c
# execute b nobind int=5
# execute d int=6
# execute a int=7
# execute c int=8
# reset d
# execute d nobind int=9
# close b
# close d
# execute d int=10
# stored SELECT GROUP_CONCAT(a ORDER BY a) FROM t => 1,2,3,4,5,6,9
