"""Counts what is stored in an attached resource, in the database of the service.

It only reads. The exit code is 0 if there is nothing, 3 with the number in one line if there
is something, and 1 if that cannot be found out. What a database server says is not shown.
"""

import os
import sys

import sqlalchemy

# The operator replaces these by the environment variable with the URL of the database, by the
# query for the number of items in the resource with the name :name, and by what it counts.
VARIABLE = ""
QUERY = ""
ITEMS = ""

IN_USE = 3


def count(name):
    engine = sqlalchemy.create_engine(os.environ[VARIABLE], poolclass=sqlalchemy.pool.NullPool)
    with engine.connect() as connection:
        connection.execute(sqlalchemy.text("SET SESSION TRANSACTION READ ONLY"))
        return connection.execute(sqlalchemy.text(QUERY), {"name": name}).scalar()


def main():
    try:
        found = count(sys.argv[1])
    except Exception as error:
        sys.exit("counting the %s failed (%s)" % (ITEMS, type(error).__name__))
    if found:
        print("%d %s" % (found, ITEMS), file=sys.stderr)
        sys.exit(IN_USE)


if __name__ == "__main__":
    main()
