## CLOSE and SEND_LONG_DATA have no reply: what follows them in the same segment is answered.
# ordinary INSERT INTO t VALUES ($i, 'ordinary')
CREATE TABLE t (a INT PRIMARY KEY, s TEXT)
# body
# pipeline
# prepare p INSERT INTO t VALUES (?, ?)
# cmd raw_none 19 01000000
SELECT 1
# end
# prepare q INSERT INTO t VALUES (?, ?)
# pipeline
# long q 1 one
# long q 1 two
# execute q int=1 | long
# close q
SELECT 2
# end
# pipeline
# execute q int=2 | str=closed
# cmd raw_none 19 FFFFFF7F
# cmd raw_none 18 FFFFFF7F 0000 61
SELECT 3
# end
# stored SELECT s FROM t WHERE a < 100 => onetwo
