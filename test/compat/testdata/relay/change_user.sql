# modes autocommit
# schema b
CREATE TABLE t (id INT PRIMARY KEY)
# body
SET @a = 1
# cmd change_user app app $S_b
SELECT @a, DATABASE(), CURRENT_USER()
# cmd change_user nopassword - $S
SELECT CURRENT_USER()
# cmd change_user app app -
SELECT DATABASE()
# cmd change_user app wrong $S
SELECT 1
# conn second
INSERT INTO $S.t VALUES (1)
# cmd change_user app app no_such_schema
SELECT DATABASE()
# conn third
# cmd change_user nobody nothing $S
SELECT 1
# conn fourth user=nopassword password=
# cmd change_user app app $S
SELECT CURRENT_USER()
SELECT CONNECTION_ID()
SELECT * FROM t
