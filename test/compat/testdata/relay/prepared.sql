## Prepared statements in binary protocol, with cursors and long data.
# modes autocommit
CREATE TABLE t (id INT PRIMARY KEY, n BIGINT UNSIGNED, s VARCHAR(100), b LONGBLOB, d DATETIME(6))
CREATE PROCEDURE two(x INT) BEGIN SELECT x; SELECT x, x; END
# body
# prepare ins INSERT INTO t VALUES (?, ?, ?, ?, ?)
# execute ins int=1 | ubigint=18446744073709551615 | str=é | blob=<00 FF 27 5C> | t0C=<0B E4 07 02 1D 0C 22 38 15 0A 0C 00>
# execute ins nobind int=2 | ubigint=0 | str= | blob= | t0C=<00>
# execute ins int=3 | null | null | null | null
# execute ins int=3 | null | null | null | null
# prepare sel SELECT * FROM t WHERE id >= ? ORDER BY id
# execute sel int=1
# execute sel int=9
# execute sel cursor int=1
# fetch sel 1
# fetch sel 5
# fetch sel 1
# execute sel cursor int=1
# reset sel
# fetch sel 1
# execute sel cursor int=1
# execute sel int=2
# long ins 3 first <00>
# long ins 3 second
# execute ins int=4 | ubigint=4 | str=four | long | null
# execute ins int=5 | ubigint=5 | str=five | blob=short | null
# long ins 3 dropped
# reset ins
# execute ins int=6 | ubigint=6 | str=six | blob=kept | null
# long ins 9 nowhere
# execute ins int=7 | ubigint=7 | str=seven | blob=x | null
# execute ins int=8 | ubigint=8 | str=eight | blob=x | null
# prepare bad SELECT FROM WHERE
# prepare none DO 1
# execute none
# prepare call CALL two(?)
# execute call int=5
# prepare self SELECT ?, ?, ?, ?
# execute self str=a | double=1.5 | float=2.5 | short=7
# execute self tiny=1 | null | bigint=-1 | varchar=v
# close sel
# execute sel int=1
# fetch sel 1
# reset sel
# close sel
SELECT COUNT(*) FROM t
# prepare text PREPARE q FROM 'SELECT 1'
PREPARE q FROM 'SELECT ? + 1'
SET @a = 41
EXECUTE q USING @a
DEALLOCATE PREPARE q
EXECUTE q USING @a
