## Long data: in chunks, an empty one, one that ends inside a character; gone after the execution or RESET.
# ordinary INSERT INTO t VALUES ($i, x'00', 'ordinary', x'FF')
CREATE TABLE t (id INT PRIMARY KEY, b1 BLOB, s TEXT, b2 BLOB)
# body
# prepare p INSERT INTO t VALUES (?, ?, ?, ?)
# long p 1 first <00 FF 27>
# long p 1
# long p 1 <F0 9F 98>
# long p 2 h<C3>
# long p 2 <A9>llo
# execute p int=1 | long | long | blob=<01>
# execute p int=2 | blob=no | str=long | blob=data
# long p 1 dropped
# reset p
# execute p int=3 | blob=kept | str=x | blob=y
# long p 3 last
# long p 1 before
# execute p int=4 | long | str=between | long
# long p 0 5
# execute p long | blob=a | str=a number as text | blob=b
# long p 2 twice
# execute p int=1 | blob=a | long | blob=duplicate
# execute p int=6 | blob=a | str=after an error | blob=b
# long p 7 no such parameter
# execute p int=7 | blob=a | str=a | blob=b
# execute p int=8 | blob=a | str=a | blob=b
SELECT id, HEX(b1), HEX(s), HEX(b2) FROM t WHERE id < 100 ORDER BY id
# close p
# stored SELECT HEX(b1), HEX(s) FROM t WHERE id = 1 => 66697273742000FF27F09F98,68C3A96C6C6F
