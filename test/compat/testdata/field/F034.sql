## GBK: a backslash as second byte just before the closing quote.
# ordinary INSERT INTO t VALUES ($i, 'o')
# stored SELECT id, HEX(c) FROM t WHERE id < 10 ORDER BY id => 1,D55C; 2,78; 3,BF5C
CREATE TABLE t (id INT PRIMARY KEY, c VARCHAR(40) CHARACTER SET gbk)
# body
SET NAMES gbk
INSERT INTO t VALUES (1,'<D5 5C>'),(2,'x'),(3,'<BF 5C>')
INSERT INTO t VALUES (4,'<D5 5C>
# repeat 30 INSERT INTO t VALUES (10$i, '<D5 5C>')
# repeat 30 INSERT INTO t VALUES (20$i, 'x<D5 5C D5 5C>y')
