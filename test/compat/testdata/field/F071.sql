## Requests for files with all kinds of names, and the OK that ends them.
# ordinary INSERT INTO t VALUES ($i, 'ordinary')
CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(100))
# body
# infile 1<09>a<0A>
LOAD DATA LOCAL INFILE 'Reader::x' INTO TABLE t
# infile 2<09>b<0A>
LOAD DATA LOCAL INFILE '' INTO TABLE t
# infile 3<09>c<0A>|4<09>d|<0A>5<09>e<0A>
LOAD DATA LOCAL INFILE '<61 x500>' INTO TABLE t
# infile 6<09>f<0A>
LOAD DATA LOCAL INFILE 'quote''s and \\ and <C3 A9>' INTO TABLE t
LOAD DATA LOCAL INFILE 'Reader::<61 x300>' INTO TABLE t
# infile
LOAD DATA LOCAL INFILE 'nothing' INTO TABLE t
# stored SELECT COUNT(*) FROM t => 6
