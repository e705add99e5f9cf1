## Missing file and missing table: after each the next statements have their own answers.
# ordinary INSERT INTO t VALUES ($i, 'ordinary')
CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(100))
# body
LOAD DATA LOCAL INFILE 'missing' INTO TABLE no_such_table
SELECT 1
SELECT 2
SELECT 3
LOAD DATA LOCAL INFILE 'missing' INTO TABLE t
SELECT 1
SELECT 2
SELECT 3
# infile 1<09>x<0A>
LOAD DATA LOCAL INFILE 'there' INTO TABLE no_such_table
SELECT 1
SELECT 2
SELECT 3
# infile 2<09>y<0A>
LOAD DATA LOCAL INFILE 'there' INTO TABLE t (id, no_such_column)
# infile 2<09>y<0A>
LOAD DATA LOCAL INFILE 'there' INTO TABLE t
SELECT 3
