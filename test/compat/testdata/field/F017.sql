## A scalar subquery as a value sees the rows before it.
# ordinary INSERT INTO dst (n) VALUES ($i)
# stored SELECT n FROM dst ORDER BY n => 1; 2; 3; 4; 5
CREATE TABLE src (n INT)
CREATE TABLE dst (n INT)
# body
INSERT INTO src VALUES (1)
INSERT INTO dst(n) VALUES ((SELECT COUNT(*) FROM src))
INSERT INTO src VALUES (2)
INSERT INTO dst(n) VALUES ((SELECT COUNT(*) FROM src))
INSERT INTO src VALUES (3)
INSERT INTO dst(n) VALUES ((SELECT COUNT(*) FROM src))
INSERT INTO src VALUES (4)
INSERT INTO dst(n) VALUES ((SELECT COUNT(*) FROM src))
INSERT INTO src VALUES (5)
INSERT INTO dst(n) VALUES ((SELECT COUNT(*) FROM src))
