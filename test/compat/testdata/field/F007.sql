## Parentheses inside a tuple.
# ordinary INSERT INTO t (d, i) VALUES ('o', $i)
# stored SELECT d, i FROM t WHERE i > 1 ORDER BY i => 9,2; a)(b,3; 9,12; a)(b,13
CREATE TABLE t (d VARCHAR(40), i INT)
# body
INSERT INTO t (d,i) VALUES (RAND(10), 1)
INSERT INTO t (d,i) VALUES (RAND(10), 1)
INSERT INTO t (d,i) VALUES (ROUND((1+2)*3, 0), 2)
INSERT INTO t (d,i) VALUES (CONCAT('a)','(b'), 3)
# prepare a INSERT INTO t (d,i) VALUES (RAND(10), ?)
# execute a int=1
# execute a int=1
# prepare b INSERT INTO t (d,i) VALUES (ROUND((1+2)*3, 0), ?)
# execute b int=12
# prepare c INSERT INTO t (d,i) VALUES (CONCAT('a)','(b'), ?)
# execute c int=13
