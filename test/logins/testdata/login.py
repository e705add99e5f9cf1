"""login.py pymysql|MySQLdb

Logs in as each line of standard input says and answers with a line; ../doc.go has the
form of both. The certificates to trust are in the file SLUICE_TEST_CA.
"""
import importlib
import os
import sys


def row(module, host, port, user, password, tls, compress):
    options = dict(host=host, port=int(port), user=user, password=password, connect_timeout=60)
    if tls == "1":
        options["ssl"] = {"ca": os.environ["SLUICE_TEST_CA"]}
    if compress == "1":
        options["compress"] = True
    db = module.connect(**options)
    try:
        cursor = db.cursor()
        cursor.execute("SELECT CURRENT_USER(), CONNECTION_ID()")
        return cursor.fetchone()
    finally:
        db.close()


def main(library):
    module = importlib.import_module(library)
    for line in sys.stdin:
        try:
            answer = ("ok",) + row(module, *line.rstrip("\n").split("\t"))
        except Exception as error:  # pylint: disable=broad-except
            code = error.args[0] if isinstance(error, module.Error) and len(error.args) > 1 else 0
            text = error.args[-1] if error.args else repr(error)
            answer = ("no", code, " ".join(str(text).split()))
        print("\t".join(str(field) for field in answer), flush=True)


main(sys.argv[1])
