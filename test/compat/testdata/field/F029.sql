## NO_BACKSLASH_ESCAPES: a backslash is an ordinary byte.
# ordinary INSERT INTO t VALUES ($i, 'C:\\')
# stored SELECT id, HEX(s) FROM t ORDER BY id => 1,433A5C; 2,615C6E62; 3,785C273B79; 4,610A62
CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20))
# body
SET sql_mode='NO_BACKSLASH_ESCAPES'
INSERT INTO t VALUES (1,'C:\')
INSERT INTO t VALUES (2,'a\nb')
INSERT INTO t VALUES (3,'x\'';y')
SET sql_mode=''
INSERT INTO t VALUES (4,'a\nb')
