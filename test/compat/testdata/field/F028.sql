## Escaped and doubled quotes at the ends of strings.
# ordinary INSERT INTO t VALUES ('o', $i)
# stored SELECT HEX(s), n FROM t ORDER BY n => 5C27,5; 27,6; 5C,7; 27272727,8
CREATE TABLE t (s VARCHAR(20), n INT)
# body
INSERT INTO t VALUES('\\\'',5);INSERT INTO t VALUES('''',6)
INSERT INTO t VALUES('\\',7)
INSERT INTO t VALUES('\'''\'\'',8)
