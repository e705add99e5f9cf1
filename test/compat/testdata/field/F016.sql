## Values that name a column of the table.
# ordinary INSERT INTO t VALUES ($i)
CREATE TABLE t (a INT NOT NULL DEFAULT 100)
CREATE TABLE t2 (a INT, b INT)
# body
INSERT INTO t VALUES (1)
INSERT INTO t VALUES (a+2)
INSERT INTO t VALUES (5),(a+6)
INSERT INTO t(a) VALUES (a+7)
INSERT INTO t2(a,b) VALUES (1, a*2)
INSERT INTO t2(b,a) VALUES (a*2, 1)
