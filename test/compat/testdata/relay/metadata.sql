## Capabilities that change the result's head.
# modes autocommit
CREATE TABLE t (id INT PRIMARY KEY, j JSON)
INSERT INTO t VALUES (1, '[1]')
# body
# conn attributes caps=+query_attributes
SELECT * FROM t
INSERT INTO t VALUES (2, '[2]')
# prepare p SELECT * FROM t WHERE id = ?
# execute p int=1
# prepare q INSERT INTO t VALUES (?, ?)
# execute q int=3 | str=[3]
# execute q nobind int=4 | str=[4]
# conn maria caps=-long_password,+extended_metadata,+cache_metadata,+bulk_operations,+progress
SELECT * FROM t
# prepare p SELECT * FROM t WHERE id = ?
# execute p int=1
# execute p nobind int=2
ALTER TABLE t ADD COLUMN k INT
# execute p nobind int=2
