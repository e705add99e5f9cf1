## JSON takes no value of character set binary.
# ordinary INSERT INTO t VALUES ($i, '{}')
CREATE TABLE t (id INT PRIMARY KEY, j JSON)
# body
# prepare p INSERT INTO t VALUES (?, ?)
# execute p int=1 | str={"k":1}
# execute p int=2 | blob={"k":1}
INSERT INTO t VALUES (3, _binary'{}')
INSERT INTO t VALUES (4, '{"k": "\\"x\\""}')
SET NAMES binary
INSERT INTO t VALUES (5, '{}')
INSERT INTO t VALUES (6, x'7B7D')
SET NAMES utf8mb4
SELECT * FROM t WHERE id < 10
