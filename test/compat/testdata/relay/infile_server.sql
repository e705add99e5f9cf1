## The server's own files: no request to the client, whatever the spelling.
# modes autocommit
CREATE TABLE t (a INT)
# body
LOAD DATA INFILE '/no/such/file' INTO TABLE t
LOAD /*!32302 LOCAL*/ DATA INFILE 'versioned' INTO TABLE t
LOAD XML LOCAL INFILE 'x.xml' INTO TABLE t
LOAD DATA /* LOCAL */ INFILE '/no/such/file' INTO TABLE t
SELECT 1
