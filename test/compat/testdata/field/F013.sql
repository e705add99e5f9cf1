## The tail differs from row to row.
# ordinary INSERT INTO u (name, age) VALUES ('o$i', 0)
# stored SELECT * FROM u ORDER BY name => m,36; s,22; t,24
CREATE TABLE u (name VARCHAR(20) PRIMARY KEY, age INT)
INSERT INTO u VALUES ('m', 1), ('s', 2), ('t', 3)
# body
# prepare p INSERT INTO u(name,age) VALUES (?,?) ON DUPLICATE KEY UPDATE age=?
# execute p str=m | int=35 | int=46
# execute p str=s | int=21 | int=42
INSERT INTO u(name,age) VALUES ('m',35) ON DUPLICATE KEY UPDATE age=36
INSERT INTO u(name,age) VALUES ('s',21) ON DUPLICATE KEY UPDATE age=22
INSERT INTO u(name,age) VALUES ('t',23) ON DUPLICATE KEY UPDATE age=24
