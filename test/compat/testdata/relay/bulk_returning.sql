## Replies of MariaDB's bulk execution that are result sets.
# servers mariadb
# modes autocommit
CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, s VARCHAR(20))
# body
# conn bulk caps=-long_password,+bulk_operations
# prepare ins INSERT INTO t (s) VALUES (?) RETURNING id, s
# bulk ins str=a || str=b || str=c
# execute ins str=d
SELECT * FROM t
