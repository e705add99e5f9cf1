## A default that names another column, and column lists in changing order.
# ordinary INSERT INTO t (id, a) VALUES ($i, 0)
# stored SELECT id, a, b FROM t ORDER BY id => 1,10,11; 2,20,21; 3,30,31
CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT DEFAULT (a+1))
# body
INSERT INTO t(id,a) VALUES (1,10)
INSERT INTO t(id,a,b) VALUES (2,20,DEFAULT)
INSERT INTO t(a,id) VALUES (30,3)
