## Every tracker on, and bursts of inserts: what an OK packet says about the session.
# modes autocommit
CREATE TABLE t (a INT PRIMARY KEY, b INT) ENGINE=InnoDB
# body
SET SESSION session_track_system_variables='autocommit,sql_mode,time_zone,character_set_client', session_track_state_change=1, session_track_schema=1
SET SESSION session_track_transaction_info='CHARACTERISTICS'
# repeat 30 INSERT INTO t VALUES (70$i, 0)
SET NAMES latin1
# repeat 12 INSERT INTO t VALUES (10$i, 0)
BEGIN
# repeat 30 INSERT INTO t VALUES (20$i, 0)
COMMIT
SET SESSION session_track_transaction_info='STATE'
# repeat 30 INSERT INTO t VALUES (30$i, 0)
SET autocommit=0
# repeat 30 INSERT INTO t VALUES (40$i, 0)
COMMIT
SET autocommit=1
SET SESSION session_track_transaction_info='OFF'
# repeat 30 INSERT INTO t VALUES (50$i, 0)
SET SESSION session_track_state_change=0, session_track_system_variables=''
# repeat 30 INSERT INTO t VALUES (60$i, 0)
USE $S
SELECT COUNT(*) FROM t
