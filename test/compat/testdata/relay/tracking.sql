## What the server tells about the session in its OK packets.
# modes autocommit
# schema b
# body
USE $S_b
USE $S
# cmd init_db $S_b
SET autocommit=0
SET autocommit=1
SET NAMES latin1
SET NAMES utf8mb4
SET character_set_results=NULL
SET time_zone='+01:00'
SET sql_mode='NO_BACKSLASH_ESCAPES'
SELECT 1
SET sql_mode='ANSI_QUOTES'
SELECT 1
SET SESSION session_track_system_variables='sort_buffer_size,autocommit,session_track_schema'
SET SESSION sort_buffer_size=100000
SET SESSION session_track_schema=0
USE $S
SET SESSION session_track_state_change=1
SET @a=1
SET SESSION session_track_transaction_info='STATE'
BEGIN
SELECT 1
CREATE TABLE t (a INT)
BEGIN
INSERT INTO t VALUES (1)
SELECT * FROM t
COMMIT
SET SESSION session_track_transaction_info='CHARACTERISTICS'
START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY
SELECT * FROM t
ROLLBACK
SET TRANSACTION READ ONLY
BEGIN
INSERT INTO t VALUES (2)
COMMIT
CREATE TEMPORARY TABLE tmp (a INT)
DROP TEMPORARY TABLE tmp
# cmd reset_connection
SET NAMES latin1
