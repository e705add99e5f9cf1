## NO_BACKSLASH_ESCAPES known only from the server's default.
# global sql_mode='NO_BACKSLASH_ESCAPES'
# ordinary INSERT INTO t VALUES ($i, 'C:\')
# stored SELECT id, HEX(s) FROM t ORDER BY id => 1,433A5C; 2,615C6E62; 3,785C273B79; 4,610A62; 5,433A5C; 6,433A5C
CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20))
# body
INSERT INTO t VALUES (1,'C:\')
INSERT INTO t VALUES (2,'a\nb')
INSERT INTO t VALUES (3,'x\'';y')
INSERT INTO t VALUES (5,'C:\'), (6,'C:\')
SET sql_mode=''
INSERT INTO t VALUES (4,'a\nb')
SET sql_mode='NO_BACKSLASH_ESCAPES'
