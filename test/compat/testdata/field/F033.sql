## Shift-JIS: a backslash as second byte of a character.
# ordinary INSERT INTO t VALUES ($i, 'o')
# stored SELECT id, HEX(c) FROM t WHERE id < 10 ORDER BY id => 1,955C; 2,835C955C; 3,5C; 4,955C; 5,5C
CREATE TABLE t (id INT PRIMARY KEY, c VARCHAR(20) CHARACTER SET sjis)
# body
SET NAMES sjis
INSERT INTO t VALUES (1,'<95 5C>')
INSERT INTO t VALUES (2,'<83 5C 95 5C>'),(3,'<5C 5C>')
# prepare p INSERT INTO t VALUES (?, ?)
# execute p int=4 | str=<95 5C>
# execute p int=5 | str=<5C>
# repeat 30 INSERT INTO t VALUES (10$i, '<95 5C>')
# repeat 30 INSERT INTO t VALUES (20$i, 'x<95 5C 95 5C>y')
