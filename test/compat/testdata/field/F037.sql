## A question mark in a comment or in a name is no parameter.
# ordinary INSERT INTO t (`a?`) VALUES ('o$i')
# stored SELECT * FROM t => */ (1); DROP TABLE x; /*
CREATE TABLE t (`a?` VARCHAR(40))
CREATE TABLE x (a INT)
# body
# prepare p INSERT INTO t /* ? */ (`a?`) VALUES (?) -- ?<0A>
# execute p str=*/ (1); DROP TABLE x; /*
