## The same in Windows' variety.
# ordinary INSERT INTO t VALUES ($i, 'o')
CREATE TABLE t (id INT PRIMARY KEY, c VARCHAR(20) CHARACTER SET cp932)
# body
SET NAMES cp932
INSERT INTO t VALUES (1,'<95 5C>')
INSERT INTO t VALUES (2,'<83 5C 95 5C>'),(3,'<5C 5C>')
INSERT INTO t VALUES (4,'<95 5C 27 27>')
# repeat 30 INSERT INTO t VALUES (10$i, '<95 5C>')
# repeat 30 INSERT INTO t VALUES (20$i, 'x<95 5C 95 5C>y')
