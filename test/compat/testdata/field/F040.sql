## Comments hide control statements.
# schema a
# schema b
# ordinary INSERT INTO $S_a.t VALUES ($i)
# stored SELECT n FROM $S_a.t ORDER BY n => 1; 3
# stored SELECT n FROM $S_b.t ORDER BY n => 2; 4
CREATE TABLE $S_a.t (n INT)
CREATE TABLE $S_b.t (n INT)
# body
USE $S_a
INSERT INTO t VALUES(1)
/*+ tag */ USE $S_b
INSERT INTO t VALUES(2)
/*! USE $S_a */
INSERT INTO t VALUES(3)
# cmd init_db $S_b
INSERT INTO t VALUES (4)
SET<0A>#n<0A>sql_mode=''
-- x<0A>SET sql_mode='ANSI_QUOTES'
SELECT @@sql_mode
