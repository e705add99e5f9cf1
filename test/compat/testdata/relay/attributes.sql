## Query attributes: which are parameters before the text.
# servers mysql
# ordinary INSERT INTO t VALUES ($i, 'ordinary')
CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20))
# body
# conn named caps=+query_attributes
# repeat 30 INSERT INTO t VALUES ($i, 'none')
# attributes a=b : SELECT 1
# attributes a=b c=<C3 A9> : SELECT COUNT(*) FROM t
# attributes a=b : INSERT INTO t VALUES (101, 'one')
# attributes a=INSERT b=SELECT : INSERT INTO t VALUES (101, 'duplicate')
# repeat 30 # attributes a=b : INSERT INTO t VALUES (200 + $i, 'many')
# attributes x=y : SELEKT
# attributes x=y : SELECT 1; SELECT 2
# attributes x=<78 x70000> : SELECT 4
# attributes a=b : SELECT mysql_query_attribute_string('a')
SELECT COUNT(*), ROW_COUNT() FROM t
# prepare p INSERT INTO t VALUES (?, ?)
# execute p int=500 | str=prepared
SELECT s, COUNT(*) FROM t GROUP BY s ORDER BY s
