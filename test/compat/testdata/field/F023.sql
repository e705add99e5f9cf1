## Adjacent literals are one literal.
# ordinary INSERT INTO t VALUES ($i, 'o')
# stored SELECT s FROM t ORDER BY id => bac; xy; it's; abc
# stored SELECT k FROM u ORDER BY k => ab; b; ba
CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20))
CREATE TABLE u (k VARCHAR(20) PRIMARY KEY)
# body
INSERT INTO t VALUES (1,'b' 'a'<0A>'c')
INSERT INTO t VALUES (2, _utf8mb4'x' 'y')
INSERT INTO t VALUES (3,'it' '''s')
INSERT INTO t VALUES (4,'a' /* x */ 'b' -- y<0A>'c')
INSERT INTO u VALUES ('b' 'a')
INSERT INTO u VALUES ('b')
INSERT INTO u VALUES ('a'   'b')
