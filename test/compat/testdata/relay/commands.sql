## Commands that are neither queries nor statements, in the order of their bytes.
# modes autocommit
# schema b
CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20) DEFAULT 'x', data BLOB)
INSERT INTO t VALUES (1, 'one', 'abc'), (2, NULL, NULL)
# body
# cmd ping
# cmd init_db $S_b
SELECT DATABASE()
# cmd init_db no_such_schema
SELECT DATABASE()
# cmd init_db $S
# cmd field_list t
# cmd field_list t n%
# cmd field_list no_such_table
# mask
# cmd statistics
# cmd set_option 1
SELECT 1; SELECT 2
# cmd set_option 0
SELECT 1; SELECT 2
# cmd set_option 7
SET @a = 5, SESSION group_concat_max_len = 100
SELECT @a, @@group_concat_max_len
# cmd reset_connection
SELECT @a, @@group_concat_max_len
SELECT CONNECTION_ID()
SELECT * FROM t
INSERT INTO t (id) VALUES (3)
INSERT INTO t (id) VALUES (3)
UPDATE t SET name = 'x'
DO 1
SELEKT
# cmd quit
# conn after
SELECT 1
