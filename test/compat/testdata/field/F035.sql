## GBK is declared but UTF-8 is sent.
# ordinary INSERT INTO t VALUES ('o$i')
CREATE TABLE t (c VARCHAR(20) CHARACTER SET utf8mb4)
# body
SET character_set_client=gbk
INSERT INTO t VALUES ('<E5 95 8A>')
INSERT INTO t VALUES ('<E5 95 8A E5 95 8A>')
SHOW WARNINGS
SET character_set_client=utf8mb4
SELECT HEX(c) FROM t WHERE c NOT LIKE 'o%'
