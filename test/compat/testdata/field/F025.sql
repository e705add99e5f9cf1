## An introducer before a hexadecimal literal.
# ordinary INSERT INTO t VALUES ('o$i')
# stored SELECT HEX(c) FROM t ORDER BY 1 => 41; C3A9; C3A9; C3A9
CREATE TABLE t (c VARCHAR(20) CHARACTER SET utf8mb4)
# body
INSERT INTO t VALUES (_latin1 x'e9')
INSERT INTO t VALUES (_latin1 0xE9)
INSERT INTO t VALUES (_latin1'<E9>')
INSERT INTO t VALUES (_binary x'41')
