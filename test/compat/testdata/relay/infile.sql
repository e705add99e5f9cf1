## LOAD DATA LOCAL: the client is asked for the file in the middle of a reply.
# modes autocommit
CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20))
CREATE TABLE other (a VARCHAR(10))
# body
# infile 1<09>a<0A>2<09>b<0A>
LOAD DATA LOCAL INFILE 'one.txt' INTO TABLE t
# infile
LOAD DATA LOCAL INFILE 'empty.txt' INTO TABLE t
# infile 3<09>c|<0A>4<09>|d<0A>5<09>e
LOAD DATA LOCAL INFILE 'split.txt' INTO TABLE t
# infile 1<09>duplicate<0A>6<09>a string that is far too long for the column<0A>x<09>y<0A>
LOAD DATA LOCAL INFILE 'warnings.txt' INTO TABLE t
SHOW WARNINGS
# infile 7<09>x<0A>
LOAD DATA LOCAL INFILE 'x' INTO TABLE no_such_table
LOAD DATA LOCAL INFILE 'x' INTO TABLE t (no_such_column)
SELECT COUNT(*) FROM t
# conn fresh
# infile 8<09>x<0A>
SELECT 1; LOAD DATA LOCAL INFILE 'multi.txt' INTO TABLE t; SELECT 2
# infile 9<09>x<0A>
# infile 10<09>y<0A>
LOAD DATA LOCAL INFILE 'a' INTO TABLE t; LOAD DATA LOCAL INFILE 'b' INTO TABLE t
# infile 11<09>x<0A>
LOAD DATA LOCAL INFILE 'a' INTO TABLE t; SELECT nonsense FROM t; SELECT 3
# infile <17 x100000>|<17 x100000>
LOAD DATA LOCAL INFILE 'looks_like_commands' INTO TABLE other
# infile <0A> USE mysql<0A>
LOAD DATA LOCAL INFILE 'looks_like_sql' INTO TABLE other
SELECT DATABASE()
LOAD DATA LOCAL INFILE 'Reader::x with a long name <61 x300>' INTO TABLE t
LOAD DATA LOCAL INFILE '' INTO TABLE t
/*!LOAD DATA LOCAL INFILE 'comment' INTO TABLE t */
# infile 12<09>eof<0A>
# conn old caps=-deprecate_eof
# infile 13<09>eof<0A>
LOAD DATA LOCAL INFILE 'a' INTO TABLE t; SELECT 5
SELECT * FROM t ORDER BY id
# conn gone
# infile-abort 20<09>complete<0A>21<09>part
LOAD DATA LOCAL INFILE 'gone.txt' INTO TABLE other
# conn last
SELECT COUNT(*) FROM t
