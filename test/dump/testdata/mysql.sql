-- What only MySQL has.
SET NAMES utf8mb4;
SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO';
SET time_zone = '+05:30';

CREATE TABLE only_types (
  id INT NOT NULL PRIMARY KEY, v VECTOR(3), j JSON DEFAULT (JSON_OBJECT('a', 1)), hidden INT DEFAULT 5 INVISIBLE,
  g POINT NOT NULL SRID 4326, KEY name ((CAST(j->>'$.name' AS CHAR(20)))), KEY tags ((CAST(j->'$.tags' AS UNSIGNED ARRAY))),
  KEY unseen (hidden) INVISIBLE, SPATIAL KEY g (g), CONSTRAINT lax CHECK (id > 100) NOT ENFORCED);
INSERT INTO only_types (id, v, j, hidden, g) VALUES
  (1, TO_VECTOR('[1.5, -2, 0]'), '{"name": "it''s", "tags": [1, 2, 39, 92], "d": 1.5}', 1, ST_GeomFromText('POINT(48.1 11.5)', 4326)),
  (2, NULL, JSON_OBJECT('u', 18446744073709551615, 'd', 0.1, 'e', 1e300), NULL,
   ST_GeomFromText('POINT(-89 179)', 4326)),
  (3, TO_VECTOR('[39, 92, 34]'), NULL, 7, ST_GeomFromText('POINT(0 0)', 4326));
CREATE TABLE many_hidden (id INT NOT NULL PRIMARY KEY, a VARCHAR(20) NOT NULL, h INT DEFAULT 5 INVISIBLE, d INT NOT NULL DEFAULT (1 + 1)) ENGINE=InnoDB;
INSERT INTO many_hidden (id, a, h, d) SELECT n, CONCAT('a', n), n % 3, n FROM aa_numbers;
CREATE TABLE functional (id INT NOT NULL PRIMARY KEY, a INT, b INT, UNIQUE KEY ((a + b)), KEY d (a DESC, b)) ENGINE=InnoDB;
INSERT INTO functional VALUES (1, 1, 1), (2, 1, 2), (3, NULL, 1);
CREATE TABLE collated (w VARCHAR(30) COLLATE utf8mb4_0900_as_cs NOT NULL PRIMARY KEY, k VARCHAR(30) COLLATE utf8mb4_ja_0900_as_cs_ks);
INSERT INTO collated VALUES ('a', 'ハハ'), ('A', 'はは'), ('ä', 'ハ'), ('a ', ' ');
