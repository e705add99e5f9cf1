## The oldest client: no session tracking, no multi-statements, old end-of-file packets.
# modes autocommit
CREATE TABLE t (i INT)
CREATE PROCEDURE two() BEGIN SELECT 1; SELECT 2; END
# body
# conn bare caps=-deprecate_eof,-session_track,-multi_statements,-multi_results,-ps_multi_results
SELECT 1
INSERT INTO t VALUES (1), (2)
INSERT INTO t SELECT i FROM t
UPDATE t SET i = 5
SELECT * FROM t
CALL two()
SELECT 1; SELECT 2
# prepare p SELECT ? + 1
# execute p int=5
# conn track caps=-session_track
INSERT INTO t VALUES (1), (2)
USE $S
# conn notrack caps=-session_track,-deprecate_eof
INSERT INTO t VALUES (1), (2)
