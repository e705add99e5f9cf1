## Bulk execution: values, NULL, DEFAULT, and columns that are left as they are.
# servers mariadb
# ordinary INSERT INTO t VALUES ($i, 'ordinary', 0)
CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20) DEFAULT 'the default', n INT DEFAULT 7)
# body
# conn bulk caps=-long_password,+bulk_operations,+bulk_unit_results,+extended_metadata,+cache_metadata,+progress
# repeat 20 INSERT INTO t VALUES (40$i, 'bulk', 0)
# prepare p INSERT INTO t VALUES (?, ?, ?)
# bulk p int=1 | str=a | int=1 || int=2 | null | null || int=3 | default | default || int=4 | str=d | default || int=5 | ignore | int=5
# bulk p int=6 | str=g | null || int=6 | default | null || int=7 | default | null
# prepare u UPDATE t SET s = ?, n = ? WHERE id = ?
# bulk u str=x | ignore | int=1 || ignore | int=9 | int=2 || default | null | int=3
# bulk u str=y | default | int=4 || default | null | int=3
# prepare d DELETE FROM t WHERE id = ?
# bulk d int=5 || int=6 || int=1000
SELECT * FROM t WHERE id < 10 ORDER BY id
# repeat 20 INSERT INTO t VALUES (50$i, 'bulk', 0)
# stored SELECT s, n FROM t WHERE id = 2 => NULL,NULL
# stored SELECT s, n FROM t WHERE id = 3 => the default,NULL
# stored SELECT s, n FROM t WHERE id = 4 => y,7
