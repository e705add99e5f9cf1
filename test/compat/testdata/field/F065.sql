## Commands are written before the replies of those before are read.
# modes autocommit
# large
# ordinary INSERT INTO t VALUES ($i, 'ordinary')
CREATE TABLE t (a INT PRIMARY KEY, s LONGTEXT)
# body
# pipeline
# repeat 50 INSERT INTO t VALUES ($i, 'piped')
SELECT COUNT(*) FROM t WHERE s = 'piped'
# repeat 10 INSERT INTO t VALUES (100 + $i, '<F0 9F 98 80 x524288>')
# end
SELECT COUNT(*), SUM(CHAR_LENGTH(s)) FROM t WHERE a > 100 AND a < 1000
# stored SELECT SUM(CHAR_LENGTH(s)) FROM t WHERE a > 100 => 5242880
