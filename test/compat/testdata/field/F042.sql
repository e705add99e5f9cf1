## The bytes of a string parameter for a BLOB column stay as they are.
# ordinary INSERT INTO t VALUES ($i, 'o')
# stored SELECT HEX(b) FROM t ORDER BY id => ACED000581D299C79D00FF; ACED000581D299C79D00FF; ACED000581D299C79D00FF; ACED000581D299C79D00FF
CREATE TABLE t (id INT PRIMARY KEY, b LONGBLOB)
# body
# prepare p INSERT INTO t VALUES (?, ?)
# execute p int=1 | str=<AC ED 00 05 81 D2 99 C7 9D 00 FF>
# execute p int=2 | varchar=<AC ED 00 05 81 D2 99 C7 9D 00 FF>
# execute p int=3 | string=<AC ED 00 05 81 D2 99 C7 9D 00 FF>
# execute p int=4 | blob=<AC ED 00 05 81 D2 99 C7 9D 00 FF>
