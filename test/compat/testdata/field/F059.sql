## A client without CLIENT_DEPRECATE_EOF before a server that has it.
# ordinary INSERT INTO t VALUES ($i, 'ordinary')
CREATE TABLE t (a INT PRIMARY KEY, s VARCHAR(20))
INSERT INTO t VALUES (1, 'one'), (2, 'two')
CREATE PROCEDURE two() BEGIN SELECT 1; SELECT * FROM t WHERE a < 3; END
# body
COMMIT
# conn old caps=-deprecate_eof
# repeat 50 INSERT INTO t VALUES (1000 + $i, 'old')
# repeat 50 INSERT INTO t VALUES (20$i, 'old')
SELECT * FROM t WHERE a < 3
SELECT * FROM t WHERE a < 0
# prepare p SELECT * FROM t WHERE a < ?
# execute p int=3
# execute p int=0
# prepare q INSERT INTO t VALUES (?, ?)
# execute q int=3 | str=three
CALL two()
SELECT 1; INSERT INTO t VALUES (4, 'four'); SELECT 2
INSERT INTO t VALUES (5, 'five') RETURNING a
# repeat 20 INSERT INTO t VALUES (30$i, 'old')
SELECT COUNT(*) FROM t WHERE s = 'old'
