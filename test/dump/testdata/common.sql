-- What both kinds of server have. The session is not strict, so that zero dates
-- can be stored; the dump tools' own header sets the same.
SET NAMES utf8mb4;
SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO';
SET time_zone = '+05:30';
SET foreign_key_checks = 0;

-- A helper to make many rows from; it is dumped as well.
CREATE TABLE aa_digits (n INT NOT NULL PRIMARY KEY);
INSERT INTO aa_digits VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9);
CREATE TABLE aa_numbers (n INT NOT NULL PRIMARY KEY) ENGINE=InnoDB;
INSERT INTO aa_numbers SELECT a.n + 10 * b.n + 100 * c.n FROM aa_digits a, aa_digits b, aa_digits c
  WHERE a.n + 10 * b.n + 100 * c.n < 600;

CREATE TABLE types_numbers (
  id INT NOT NULL,
  t TINYINT, tu TINYINT UNSIGNED, s SMALLINT, su SMALLINT UNSIGNED, m MEDIUMINT, mz MEDIUMINT(8) UNSIGNED ZEROFILL,
  i INT, iu INT UNSIGNED, b BIGINT, bu BIGINT UNSIGNED,
  d DECIMAL(65,30), d2 DECIMAL(10,2) NOT NULL DEFAULT 1.50, f FLOAT, db DOUBLE,
  b1 BIT(1), b17 BIT(17), b64 BIT(64), bo BOOLEAN NOT NULL DEFAULT TRUE, y YEAR,
  PRIMARY KEY (id));
INSERT INTO types_numbers VALUES
  (-1, -128, 0, -32768, 0, -8388608, 0, -2147483648, 0, -9223372036854775808, 0,
   -12345678901234567890123456789012345.123456789012345678901234567890, -99999999.99, -1.5, -1.7976931348623157e308,
   b'0', b'0', b'0', FALSE, 1901),
  (0, 127, 255, 32767, 65535, 8388607, 16777215, 2147483647, 4294967295, 9223372036854775807, 18446744073709551615,
   0.000000000000000000000000000001, 99999999.99, 3.25, 2.2250738585072014e-308,
   b'1', b'10101010101010101', 18446744073709551615, TRUE, 2155),
  (1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0.1, b'1', 39, 0x275C0022, 2, 0),
  (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL),
  (3, 1, 1, 1, 1, 1, 42, 1, 1, 1, 1, 1, 1, 1e10, 1.0000000000000002, b'0', 0x5C5C, 0x5C275C275C275C27, 1, 1999);

CREATE TABLE types_text (
  id INT NOT NULL PRIMARY KEY,
  c CHAR(20) CHARACTER SET utf8mb4, v VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  l1 VARCHAR(100) CHARACTER SET latin1, g VARCHAR(100) CHARACTER SET gbk, b5 VARCHAR(100) CHARACTER SET big5,
  sj VARCHAR(100) CHARACTER SET sjis, cp VARCHAR(100) CHARACTER SET cp932, kr VARCHAR(100) CHARACTER SET koi8r,
  u2 VARCHAR(100) CHARACTER SET ucs2, u16 VARCHAR(100) CHARACTER SET utf16, u32 VARCHAR(100) CHARACTER SET utf32,
  a VARCHAR(100) CHARACTER SET ascii, tt TINYTEXT, tx TEXT CHARACTER SET latin1, mt MEDIUMTEXT, lt LONGTEXT,
  e ENUM('', 'one', 'it''s', 'zürich', 'a,b') CHARACTER SET utf8mb4, st SET('a', 'b', 'c', 'ü') CHARACTER SET utf8mb4 NOT NULL DEFAULT 'a,c'
) DEFAULT CHARSET=utf8mb4;
INSERT INTO types_text VALUES
  (1, 'plain  ', 'trailing   ', 'Zürich', _utf8mb4'繁體誠', _utf8mb4'功許蓋', _utf8mb4'表予能', _utf8mb4'ソ十', _utf8mb4'привет',
   '京都😀', '京都😀', '京都😀', 'ascii', 'tiny', 'late\\n1', 'it''s "quoted"', 'back\\slash', 'it''s', 'a,ü'),
  (2, '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', ''),
  (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'b'),
  (4, 'line\nfeed', 'tab\treturn\r', '\\', '\\\\', '''', '"', '`', '%', '_', '\Z', ';', '-- ', '/* */', '); DROP TABLE t; --',
   REPEAT('long ', 5000), 'x\'y', 'zürich', 'a,b,c,ü'),
  (5, '😀', '😀\\', 'ÿ\\', _gbk 0x815C815C, _big5 0xA55C, _sjis 0x835C, _cp932 0x835C, 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'a,b', '');

CREATE TABLE types_bytes (
  id INT NOT NULL PRIMARY KEY,
  bi BINARY(16), vb VARBINARY(300), tb TINYBLOB, bl BLOB, mb MEDIUMBLOB, lb LONGBLOB NOT NULL);
CREATE TABLE aa_bytes (n INT NOT NULL PRIMARY KEY, b VARBINARY(1) NOT NULL);
INSERT INTO aa_bytes SELECT n, UNHEX(LPAD(HEX(n), 2, '0')) FROM aa_numbers WHERE n < 256;
SET group_concat_max_len = 1000000;
INSERT INTO types_bytes
  SELECT 1, UNHEX('00010203040506070809'), GROUP_CONCAT(b ORDER BY n SEPARATOR ''), GROUP_CONCAT(b ORDER BY n DESC SEPARATOR ''),
    GROUP_CONCAT(b ORDER BY n SEPARATOR ''), GROUP_CONCAT(b ORDER BY n SEPARATOR '\\'), GROUP_CONCAT(b ORDER BY n SEPARATOR '''')
  FROM aa_bytes WHERE n < 255;
INSERT INTO types_bytes SELECT 2, '\0\0', '\0', '''', '\\', '"', REPEAT(GROUP_CONCAT(b ORDER BY n SEPARATOR ''), 400) FROM aa_bytes;
INSERT INTO types_bytes VALUES (3, NULL, NULL, NULL, NULL, NULL, ''), (4, '', '', '', '', '', _binary 'ü\\'), (5, 'a ', 'a ', 0x80, 0xFF5C, 0x5C27, 0x5C);

CREATE TABLE types_times (
  id INT NOT NULL PRIMARY KEY,
  d DATE, t TIME, t6 TIME(6), dt DATETIME NOT NULL DEFAULT '1970-01-01 00:00:00', dt3 DATETIME(3), dt6 DATETIME(6),
  ts TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, ts6 TIMESTAMP(6) NULL DEFAULT NULL,
  tn TIMESTAMP NOT NULL DEFAULT '2001-02-03 04:05:06', KEY (ts), KEY (dt, d));
INSERT INTO types_times VALUES
  (1, '2024-02-29', '-838:59:59', '838:59:58.999999', '9999-12-31 23:59:59', '2024-03-31 02:30:00.123', '1000-01-01 00:00:00.000001',
   '2024-03-31 06:30:00', '2037-12-31 23:59:59.999999', '1971-01-01 00:00:00'),
  (2, '0000-00-00', '00:00:00', '00:00:00.5', '0000-00-00 00:00:00', '0000-00-00 00:00:00', '2024-10-27 02:30:00.5',
   '0000-00-00 00:00:00', NULL, '2024-10-27 02:30:00'),
  (3, '2024-00-00', NULL, NULL, '2024-06-00 00:00:00', NULL, NULL, '2024-10-27 07:00:00', '1971-01-01 00:00:01.000001', '2024-10-27 06:00:00');

CREATE TABLE types_documents (
  id INT NOT NULL PRIMARY KEY, j JSON, g GEOMETRY, p POINT NOT NULL, l LINESTRING, po POLYGON, mp MULTIPOINT, gc GEOMETRYCOLLECTION,
  SPATIAL KEY (p));
INSERT INTO types_documents VALUES
  (1, '{"a": [1, 2.5, "it''s", "back\\\\slash", "京都😀", null, true], "": {"b": "\\n"}}', ST_GeomFromText('POINT(1 2)'), ST_GeomFromText('POINT(92 39.5)'),
   ST_GeomFromText('LINESTRING(0 0, 1.25 1, 39 92)'), ST_GeomFromText('POLYGON((0 0, 10 0, 10 10, 0 10, 0 0), (5 5, 7 5, 7 7, 5 7, 5 5))'),
   ST_GeomFromText('MULTIPOINT(1 1, 2 2)'), ST_GeomFromText('GEOMETRYCOLLECTION(POINT(1 1), LINESTRING(0 0, 1 1))')),
  (2, '[]', NULL, ST_GeomFromText('POINT(-1e-300 1e300)'), NULL, NULL, NULL, NULL),
  (3, NULL, ST_GeomFromText('POLYGON((0 0, 4 0, 4 4, 0 4, 0 0))'), ST_GeomFromText('POINT(0 0)'), NULL, NULL, NULL, NULL);

-- Columns that the server computes, checks, and keys of all kinds.
CREATE TABLE computed (
  a INT NOT NULL, b VARCHAR(50) NOT NULL,
  v INT GENERATED ALWAYS AS (a * 2) VIRTUAL, s VARCHAR(60) GENERATED ALWAYS AS (CONCAT(b, '-', a)) STORED,
  c DECIMAL(8,2) NOT NULL DEFAULT 0, note VARCHAR(20) COMMENT 'it''s a "comment" \\ with `ticks`',
  PRIMARY KEY (a), KEY v (v), UNIQUE KEY s (s), CONSTRAINT positive CHECK (c >= 0), CHECK (a <> 13));
INSERT INTO computed (a, b, c) VALUES (1, 'one', 1.25), (2, 'two', 0), (3, 'it''s', 3), (4, '\\', 4);

CREATE TABLE `keys and "names"` (
  `select` INT NOT NULL, `a``b` VARCHAR(100) NOT NULL, `ünïcode` VARCHAR(200), `long text` TEXT, u INT, w INT,
  PRIMARY KEY (`select`, `a``b`(10)), UNIQUE KEY `u w` (u, w), KEY prefix (`ünïcode`(3), w), KEY blobs (`long text`(20)),
  FULLTEXT KEY `full` (`long text`)) COMMENT='a ''comment''; with \\ and `';
INSERT INTO `keys and "names"` VALUES (1, 'abcdefghij', 'xyz', 'some words', NULL, 1), (1, 'abcdefghik', 'xyz', 'other words', NULL, 1),
  (2, 'a', NULL, NULL, 1, NULL), (3, 'a', 'ü', 'more', 1, 2);

-- Foreign keys: to itself, forwards in the order of the dump, in a circle, cascading.
CREATE TABLE fk_a_child (
  id INT NOT NULL PRIMARY KEY, parent INT NOT NULL, other INT,
  CONSTRAINT a_to_z FOREIGN KEY (parent) REFERENCES fk_z_parent (id) ON DELETE CASCADE ON UPDATE CASCADE,
  CONSTRAINT a_to_m FOREIGN KEY (other) REFERENCES fk_m_self (id) ON DELETE SET NULL);
CREATE TABLE fk_m_self (
  id INT NOT NULL PRIMARY KEY, boss INT, name VARCHAR(20), CONSTRAINT self FOREIGN KEY (boss) REFERENCES fk_m_self (id));
CREATE TABLE fk_n_circle (id INT NOT NULL PRIMARY KEY, next INT, CONSTRAINT n_to_o FOREIGN KEY (next) REFERENCES fk_o_circle (id));
CREATE TABLE fk_o_circle (id INT NOT NULL PRIMARY KEY, next INT, CONSTRAINT o_to_n FOREIGN KEY (next) REFERENCES fk_n_circle (id));
CREATE TABLE fk_z_parent (id INT NOT NULL PRIMARY KEY, name VARCHAR(20));
INSERT INTO fk_z_parent SELECT n, CONCAT('parent ', n) FROM aa_numbers WHERE n < 300;
INSERT INTO fk_m_self SELECT n, CASE WHEN n < 599 THEN n + 1 END, CONCAT('boss ', n) FROM aa_numbers;
INSERT INTO fk_a_child SELECT n, n * 7 % 300, NULLIF(n * 11 % 600, 0) FROM aa_numbers;
INSERT INTO fk_n_circle VALUES (1, 2), (2, 1), (3, NULL);
INSERT INTO fk_o_circle VALUES (1, 2), (2, 1), (3, 3);

-- Many rows, for batching.
CREATE TABLE many_words (
  word VARCHAR(64) NOT NULL, location INT UNSIGNED NOT NULL, score FLOAT NOT NULL, y SMALLINT NOT NULL,
  PRIMARY KEY (word, location), KEY location (location)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
INSERT INTO many_words SELECT CONCAT(ELT(n % 7 + 1, 'word', 'Word', 'wörd', 'it''s', 'back\\', '京都', '😀'), n % 50), n, n / 4, n - 300 FROM aa_numbers;
CREATE TABLE many_blobs (id BIGINT NOT NULL PRIMARY KEY, content BLOB, hash BINARY(16) NOT NULL, UNIQUE KEY hash (hash)) ENGINE=InnoDB;
INSERT INTO many_blobs SELECT n * 1000003 - 300000000, CONCAT((SELECT b FROM aa_bytes x WHERE x.n = y.n % 256), UNHEX(SHA2(n, 224))), UNHEX(LEFT(SHA2(n, 256), 32))
  FROM aa_numbers y;
CREATE TABLE many_gbk (id INT NOT NULL, text VARCHAR(50) NOT NULL, PRIMARY KEY (id DESC)) ENGINE=InnoDB DEFAULT CHARSET=gbk;
INSERT INTO many_gbk SELECT n, CONCAT(_utf8mb4'誠繁', n, ELT(n % 3 + 1, '\\', '''', '')) FROM aa_numbers;
CREATE TABLE many_latin1 (id INT NOT NULL AUTO_INCREMENT, text VARCHAR(50), amount DECIMAL(12,3), at DATETIME NOT NULL, PRIMARY KEY (id), KEY text (text(5)))
  ENGINE=InnoDB AUTO_INCREMENT=5000 DEFAULT CHARSET=latin1 ROW_FORMAT=DYNAMIC;
INSERT INTO many_latin1 SELECT n, NULLIF(CONCAT('Zürich ÿ ', n), 'Zürich ÿ 7'), n / 8 - 10, '2024-02-28 12:00:00' + INTERVAL n HOUR FROM aa_numbers;
CREATE TABLE many_without_key (a INT, b VARCHAR(20), ts TIMESTAMP NULL) ENGINE=InnoDB;
INSERT INTO many_without_key SELECT n DIV 2, CONCAT('row ', n DIV 2), '2024-10-27 00:00:00' + INTERVAL n * 10 MINUTE FROM aa_numbers;
CREATE TABLE many_computed (id INT NOT NULL PRIMARY KEY, a INT NOT NULL, v INT AS (a + id) VIRTUAL, s VARCHAR(30) AS (CONCAT('s', a)) STORED, KEY v (v)) ENGINE=InnoDB;
INSERT INTO many_computed (id, a) SELECT n, n * n FROM aa_numbers;

-- Auto-increment with a zero id, a gap at the end, and a table that has none left.
CREATE TABLE counted (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20)) AUTO_INCREMENT=1000;
INSERT INTO counted VALUES (0, 'zero'), (-5, 'minus'), (7, 'seven'), (500, 'five hundred');
CREATE TABLE counted_out (id TINYINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20));
INSERT INTO counted_out VALUES (255, 'last'), (1, 'first');

-- Other engines, and partitions.
CREATE TABLE engine_myisam (id INT NOT NULL AUTO_INCREMENT, word VARCHAR(20), PRIMARY KEY (id), FULLTEXT KEY (word)) ENGINE=MyISAM AUTO_INCREMENT=77;
INSERT INTO engine_myisam VALUES (0, 'zero'), (3, 'three'), (2, 'two');
CREATE TABLE engine_memory (id INT NOT NULL, word VARCHAR(20), PRIMARY KEY (id) USING HASH, KEY (word) USING BTREE) ENGINE=MEMORY;
INSERT INTO engine_memory VALUES (3, 'three'), (1, 'one'), (2, NULL);
CREATE TABLE parted_range (id INT NOT NULL, d DATE NOT NULL, v VARCHAR(20), PRIMARY KEY (id, d)) ENGINE=InnoDB
  PARTITION BY RANGE (YEAR(d)) (PARTITION p0 VALUES LESS THAN (2000), PARTITION p1 VALUES LESS THAN (2010), PARTITION p2 VALUES LESS THAN MAXVALUE);
INSERT INTO parted_range SELECT n, '1995-01-01' + INTERVAL n MONTH, CONCAT('part ', n) FROM aa_numbers WHERE n < 400;
CREATE TABLE parted_list (id INT NOT NULL, region VARCHAR(10) NOT NULL, PRIMARY KEY (id, region)) ENGINE=InnoDB
  PARTITION BY LIST COLUMNS (region) (PARTITION north VALUES IN ('n', 'no'), PARTITION south VALUES IN ('s'));
INSERT INTO parted_list VALUES (1, 'n'), (2, 's'), (3, 'no');
CREATE TABLE parted_hash (id INT NOT NULL PRIMARY KEY, v INT) ENGINE=InnoDB PARTITION BY HASH (id) PARTITIONS 4;
INSERT INTO parted_hash VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5);

-- Triggers, views, routines and an event.
CREATE TABLE logged (id INT NOT NULL PRIMARY KEY, v INT NOT NULL) ENGINE=InnoDB;
CREATE TABLE logs (n INT NOT NULL AUTO_INCREMENT PRIMARY KEY, what VARCHAR(50)) ENGINE=InnoDB;
INSERT INTO logged SELECT n, n % 10 FROM aa_numbers WHERE n < 400;
INSERT INTO logs VALUES (1, 'before there were triggers');

DELIMITER ;;
CREATE TRIGGER logged_insert BEFORE INSERT ON logged FOR EACH ROW
BEGIN
  SET NEW.v = NEW.v + 1;
  INSERT INTO logs (what) VALUES (CONCAT('insert; ', NEW.id));
END ;;
CREATE TRIGGER logged_update AFTER UPDATE ON logged FOR EACH ROW INSERT INTO logs (what) VALUES ('it''s updated') ;;
CREATE TRIGGER logged_delete AFTER DELETE ON logged FOR EACH ROW BEGIN INSERT INTO logs (what) VALUES ('deleted'); END ;;

CREATE PROCEDURE proc_loop(IN n INT, OUT total INT, INOUT x VARCHAR(20) CHARACTER SET utf8mb4)
  COMMENT 'it''s a loop; with a semicolon'
  MODIFIES SQL DATA
BEGIN
  DECLARE i INT DEFAULT 0;
  DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SET total = -1;
  SET total = 0;
  -- a comment; with a semicolon
  WHILE i < n DO
    INSERT INTO logs (what) VALUES (CONCAT('loop; ', i));
    SET i = i + 1, total = total + i;
  END WHILE;
END ;;
CREATE FUNCTION func_double(a INT) RETURNS INT DETERMINISTIC NO SQL SQL SECURITY INVOKER RETURN a * 2 ;;
CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01 03:00:00' DISABLE COMMENT 'it''s off' DO
BEGIN
  DELETE FROM logs WHERE n < 0;
END ;;
DELIMITER ;

CREATE VIEW z_view_later AS SELECT n AS id, what FROM logs UNION ALL SELECT id, CONCAT(v, '') FROM logged;
CREATE SQL SECURITY INVOKER VIEW a_view_on_view AS SELECT id AS number, LENGTH(what) AS size FROM z_view_later WHERE id < 100;
CREATE VIEW view_checked AS SELECT a, b, func_double(a) AS twice FROM computed WHERE a < 10 WITH CASCADED CHECK OPTION;
