## Good and bad logins; the packets of each are part of the comparison.
# modes autocommit
# conn plain
SELECT CURRENT_USER(), DATABASE()
# conn noschema schema=
SELECT DATABASE()
# conn wrong password=wrong
SELECT 1
# conn empty password=
SELECT 1
# conn nobody user=nobody
SELECT 1
# conn badschema schema=no_such_schema
SELECT 1
# conn forbidden schema=mysql
SELECT 1
# conn nopassword user=nopassword password=
SELECT CURRENT_USER()
# conn needless user=nopassword password=x
SELECT 1
# conn native plugin=mysql_native_password
SELECT CURRENT_USER()
# conn sha2 plugin=caching_sha2_password
SELECT CURRENT_USER()
# conn odd plugin=no_such_plugin
SELECT CURRENT_USER()
# conn oldauth caps=-plugin_auth
SELECT CURRENT_USER()
# conn noattrs caps=-connect_attrs,-lenenc_auth
SELECT CURRENT_USER()
# conn latin1 charset=8
SELECT @@character_set_client, @@collation_connection
SELECT '<E9>', HEX('<E9>')
# conn utf8mb4bin charset=46
SELECT @@character_set_client, @@collation_connection
# conn gbk charset=28
SELECT @@character_set_client, HEX('<D5 5C>')
# conn found caps=+found_rows
CREATE TABLE f (a INT)
INSERT INTO f VALUES (1), (2)
UPDATE f SET a = 1 WHERE a = 1
# conn changed
UPDATE f SET a = 1 WHERE a = 1
# conn ignore caps=+ignore_space
SELECT COUNT (*) FROM f
SELECT @@sql_mode
# conn interactive caps=+interactive
SELECT @@wait_timeout = @@interactive_timeout
# conn nomulti caps=-multi_statements
SELECT 1; SELECT 2
# conn noinfile caps=-local_files
LOAD DATA LOCAL INFILE 'x' INTO TABLE f
SELECT 1
