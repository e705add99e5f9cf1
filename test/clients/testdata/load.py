"""load.py pymysql|MySQLdb ADDRESS SCHEMA TABLE ROWS

The address is HOST:PORT or the path of a socket. SLUICE_TEST_COMPRESS asks for
compression, which only MySQLdb has.
"""
import importlib
import os
import sys


def main(library, address, schema, table, path):
    module = importlib.import_module(library)
    options = dict(user="app", password="app", database=schema, charset="utf8mb4")
    if address.startswith("/"):
        options["unix_socket"] = address
    else:
        host, port = address.split(":")
        options.update(host=host, port=int(port))
    if os.environ.get("SLUICE_TEST_COMPRESS"):
        options["compress"] = True
    db = module.connect(**options)
    cursor = db.cursor()

    with open(path) as file:
        rows = [[None if f == "-" else bytes.fromhex(f) for f in line.rstrip("\n").split("\t")] for line in file]
    insert = "INSERT INTO " + table + " (id, word, score, payload, note) VALUES (%s, %s, %s, %s, %s)"
    half = len(rows) // 2
    for i, (key, word, score, payload, note) in enumerate(rows):
        if i == 0:
            db.autocommit(True)
        if i == half:
            db.autocommit(False)
        count = cursor.execute(insert, (
            int(key), word.decode(), score.decode(), payload, None if note is None else note.decode()))
        if count != 1:
            raise RuntimeError("row %d: %d rows" % (int(key), count))
        if i >= half and i % 100 == 99:
            db.commit()

    cursor.execute("SELECT HEX(id), HEX(word), HEX(CONCAT(score, '')), HEX(payload), HEX(note)"
                   " FROM " + table + " ORDER BY " + table + ".id")
    for row in cursor.fetchall():
        print("\t".join("-" if f is None else f for f in row))
    db.close()


main(*sys.argv[1:])
