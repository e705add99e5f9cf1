## A comment opened by slash, star, slash is not closed by its own slash.
# ordinary INSERT INTO t (a, b, c) VALUES ($i, 0, 'o')
# stored SELECT * FROM t => 1,2,seen; 3,2,ab
CREATE TABLE t (a INT PRIMARY KEY, b INT, c VARCHAR(20))
# body
INSERT INTO t VALUES (1, 2, /*/ 'hidden', */ 'seen')
INSERT INTO t VALUES (3,2, /**/ CONCAT('a','b')) /*ON DUPLICATE KEY UPDATE t=1*/
INSERT INTO t VALUES (3,2, /**/ CONCAT('a','b')) /*ON DUPLICATE KEY UPDATE t=1*/
