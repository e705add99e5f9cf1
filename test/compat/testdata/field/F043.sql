## Binary numbers and times lose nothing.
# ordinary INSERT INTO t (id) VALUES ($i)
CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, d DOUBLE, f FLOAT, n DECIMAL(30,20), v VARCHAR(40))
CREATE TABLE w (id INT PRIMARY KEY AUTO_INCREMENT, dt DATETIME(6), ti TIME(6), v VARCHAR(40))
# body
# prepare p INSERT INTO t (d, f, n, v) VALUES (?, ?, ?, ?)
# execute p double=18014398509481982.0 | double=1 | double=0.1 | double=18014398509481982.0
# execute p double=0.1 | double=0.1 | double=0.1 | double=0.1
# execute p double=5e-324 | double=1 | double=5e-324 | double=5e-324
# execute p double=1.7976931348623157e308 | double=1 | double=1 | double=1.7976931348623157e308
# execute p double=-0.0 | double=-0.0 | double=-0.0 | double=-0.0
# execute p float=3.14 | float=3.14 | float=3.14 | float=3.14
# prepare q INSERT INTO w (dt, ti, v) VALUES (?, ?, ?)
# execute q t0C=<0B E4 07 02 1D 0C 22 38 01 00 00 00> | t0B=<0C 01 22 00 00 00 16 3B 3B 3F 42 0F 00> | t0C=<0B E4 07 02 1D 0C 22 38 01 00 00 00>
# execute q t07=<07 E4 07 02 1D 0C 22 38> | t0B=<08 00 01 00 00 00 02 03 04> | t0B=<0C 01 22 00 00 00 16 3B 3B 3F 42 0F 00>
# execute q t0A=<04 E4 07 02 1D> | t0B=<00> | t0A=<04 E4 07 02 1D>
SELECT * FROM t WHERE v IS NOT NULL
SELECT * FROM w
