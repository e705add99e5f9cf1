## MySQL's alias for the new row, a syntax error on MariaDB.
# ordinary INSERT INTO t (id, d) VALUES ($i, 'o')
# late
# stored mysql SELECT id, d FROM t => 1,MySQL; 2,x
# stored mariadb SELECT COUNT(*) FROM t => 0
CREATE TABLE t (id INT PRIMARY KEY, d VARCHAR(40))
# body
INSERT INTO t(id,d) VALUES (1,'My') AS new ON DUPLICATE KEY UPDATE t.d=CONCAT(t.d,new.d)
INSERT INTO t(id,d) VALUES (1,'SQL') AS new ON DUPLICATE KEY UPDATE t.d=CONCAT(t.d,new.d)
INSERT INTO t(id,d) VALUES (2,'y') AS n(i,v) ON DUPLICATE KEY UPDATE d=n.v
INSERT INTO t(id,d) VALUES (2,'x') AS n(i,v) ON DUPLICATE KEY UPDATE d=n.v
# repeat 30 INSERT INTO t(id,d) VALUES (1,'') AS new ON DUPLICATE KEY UPDATE t.d=CONCAT(t.d,new.d)
