## Functions that differ from call to call: the rows say whether each was evaluated when it was sent.
# ordinary INSERT INTO child (pid) VALUES (-$i)
CREATE TABLE ev (id INT AUTO_INCREMENT PRIMARY KEY, at DATETIME(6), k CHAR(36), n INT, c INT, ok INT)
CREATE TABLE parent (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(10))
CREATE TABLE child (pid INT)
CREATE TABLE verdict (what VARCHAR(20), ok INT)
# body
SET @n := 0
SET @before = SYSDATE(6)
INSERT INTO ev(at,k,n,c) VALUES (NOW(6), UUID(), @n:=@n+1, CONNECTION_ID())
SET @between = SYSDATE(6)
# sleep 20ms
INSERT INTO ev(at,k,n,c) VALUES (SYSDATE(6), UUID(), @n:=@n+1, CONNECTION_ID())
# sleep 20ms
INSERT INTO ev(at,k,n,c) VALUES (NOW(6), UUID(), @n:=@n+1, CONNECTION_ID())
INSERT INTO verdict SELECT 'first in time', at BETWEEN @before AND @between FROM ev WHERE n = 1
INSERT INTO verdict SELECT '20 ms apart', TIMESTAMPDIFF(MICROSECOND, MIN(at), MAX(at)) >= 40000 FROM ev
INSERT INTO verdict SELECT 'three ids', COUNT(DISTINCT k) = 3 FROM ev
INSERT INTO verdict SELECT 'own connection', COUNT(*) = 3 FROM ev WHERE c = CONNECTION_ID()
UPDATE ev SET at = NULL, k = NULL, c = NULL
INSERT INTO parent (s) VALUES ('a')
INSERT INTO child(pid) VALUES (LAST_INSERT_ID())
INSERT INTO parent (s) VALUES ('b')
INSERT INTO child(pid) VALUES (LAST_INSERT_ID())
INSERT INTO parent (s) VALUES ('c')
INSERT INTO child(pid) VALUES (LAST_INSERT_ID())
SELECT * FROM verdict
SELECT id, n FROM ev
