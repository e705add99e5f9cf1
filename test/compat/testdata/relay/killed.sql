## The client's own thread id is the server's, so KILL reaches the session.
# modes autocommit
# schema b
# body
SELECT CONNECTION_ID()
SET @me = CONNECTION_ID()
SELECT COUNT(*) FROM information_schema.processlist WHERE id = CONNECTION_ID()
KILL QUERY 2000000000
KILL 2000000000
