## Every legal length of a binary date and time, zero and partial dates.
# ordinary INSERT INTO t (id) VALUES ($i)
CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, d DATE, dt DATETIME(6), ti TIME(6))
# body
SET sql_mode=''
# prepare p INSERT INTO t (d, dt, ti) VALUES (?, ?, ?)
# execute p t0A=<00> | t0C=<00> | t0B=<00>
# execute p t0A=<04 E4 07 02 1D> | t0C=<04 E4 07 02 1D> | t0B=<08 01 00 00 00 00 01 02 03>
# execute p t0A=<04 B4 07 00 1B> | t0C=<07 E4 07 02 1D 01 02 03> | t0B=<0C 00 00 00 00 00 01 02 03 40 E2 01 00>
# execute p t0A=<04 B4 07 00 00> | t0C=<0B E4 07 02 1D 01 02 03 40 E2 01 00> | t0B=<00>
SET sql_mode='STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE'
# execute p t0A=<00> | t0C=<00> | t0B=<00>
# execute p t0A=<04 B4 07 00 1B> | t0C=<04 E4 07 02 1D> | t0B=<00>
# execute p t0A=<04 E4 07 02 1E> | t0C=<04 E4 07 02 1D> | t0B=<00>
# execute p t0A=<04 E4 07 02 1D> | t0C=<07 E4 07 02 1D 01 02 03> | t0B=<00>
SELECT d, dt, ti FROM t WHERE dt IS NOT NULL
