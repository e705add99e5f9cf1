## A placeholder in a comment behind the tuple.
# relayed
# ordinary INSERT INTO t (n, m) VALUES ($i, 0)
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, n INT, m INT)
# body
INSERT INTO t VALUES (NULL, 0, 0) /* note (?) */ ON DUPLICATE KEY UPDATE id = -id
INSERT INTO t VALUES (NULL, 1, 0) /* note (?) */ ON DUPLICATE KEY UPDATE id = -id
INSERT INTO t VALUES (NULL, 2, 0) /* note (?) */ ON DUPLICATE KEY UPDATE id = -id
INSERT INTO t VALUES (NULL, 3, 0) /* note (?) */ ON DUPLICATE KEY UPDATE id = -id
INSERT INTO t VALUES (NULL, 4, 0) /* note (?) */ ON DUPLICATE KEY UPDATE id = -id
# prepare p INSERT INTO t VALUES (NULL, 5, 0) /* note (?) */ ON DUPLICATE KEY UPDATE id = -id
# execute p
# execute p
# prepare q INSERT INTO t VALUES (NULL, ?, ?) /* note (?) */ ON DUPLICATE KEY UPDATE id = -id
# execute q int=6 | int=1
# execute q int=7 | int=1
INSERT INTO t VALUES (1, 8, 0) /* note (?) */ ON DUPLICATE KEY UPDATE id = -id
