## Each statement of a text is parsed under the mode that the one before left.
# ordinary INSERT INTO t VALUES ($i)
# stored SELECT n FROM t ORDER BY n => 1; 2; 9
CREATE TABLE t (n INT)
# body
SET sql_mode='ANSI_QUOTES'; INSERT INTO "t" VALUES (1); SET sql_mode=''; INSERT INTO t VALUES ("2"); INSERT INTO nope VALUES (1); INSERT INTO t VALUES (3)
SELECT 1;;SELECT 2
INSERT INTO t VALUES(9); -- end
SELECT @@sql_mode
