## MariaDB's bulk execution.
# servers mariadb
# modes autocommit
CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20))
# body
# conn bulk caps=-long_password,+bulk_operations
# prepare ins INSERT INTO t VALUES (?, ?)
# bulk ins int=1 | str=a || int=2 | null || int=3 | str=c
# bulk ins int=4 | str=d || int=1 | str=again || int=5 | str=e
SELECT * FROM t
# prepare upd UPDATE t SET s = ? WHERE id = ?
# bulk upd str=x | int=1 || str=y | int=2
# conn units caps=-long_password,+bulk_operations,+bulk_unit_results
# prepare ins2 INSERT INTO t VALUES (?, ?)
# bulk ins2 int=11 | str=a || int=12 | null
