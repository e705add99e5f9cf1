## The same bytes under UTF-8, where the backslash escapes the quote.
# ordinary INSERT INTO t VALUES ($i, 'o')
CREATE TABLE t (id INT PRIMARY KEY, c VARBINARY(40))
# body
INSERT INTO t VALUES (1,'<D5 5C>'),(2,'x'),(3,'<BF 5C>')
INSERT INTO t VALUES (1,'<D5 5C>'),(2,'x')
