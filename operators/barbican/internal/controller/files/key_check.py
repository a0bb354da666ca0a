"""Ends with 78 when the database holds keys of projects that a key-encryption key cannot read.

Usage: key_check.py any|first FILE [ARGUMENT...]

FILE has the key-encryption keys, as Barbican reads them: with "any", one of them has to read
each key of a project, and with "first" the first one alone. Otherwise it goes on as
barbican-manage with the arguments, in the same process: another one would have to import most
of this one's modules again.

A file that does not exist holds no keys, and neither does a database without the table.
"""

import os
import sys

import sqlalchemy
from cryptography import fernet
from sqlalchemy import exc

PLUGIN = "barbican.plugin.crypto.simple_crypto.SimpleCryptoPlugin"


def keys_in_file(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="ascii") as file:
        pairs = [line.partition("=") for line in file]
    return [value.strip() for name, _, value in pairs if name.strip() == "kek"]


def keys_in_database(url):
    engine = sqlalchemy.create_engine(url)
    with engine.connect() as connection:
        if not engine.dialect.has_table(connection, "kek_data"):
            return []
        query = sqlalchemy.text("SELECT plugin_meta FROM kek_data WHERE plugin_name = :plugin AND plugin_meta IS NOT NULL")
        return [row[0] for row in connection.execute(query, {"plugin": PLUGIN})]


def is_read_by(keys, wrapped):
    for key in keys:
        try:
            fernet.Fernet(key).decrypt(wrapped if isinstance(wrapped, bytes) else wrapped.encode())
            return True
        except fernet.InvalidToken:
            continue
    return False


def main(which, path):
    try:
        stored = keys_in_database(os.environ["OS_DATABASE__CONNECTION"])
    except exc.DBAPIError as error:
        sys.exit(str(error))
    keys = keys_in_file(path)
    if which == "first":
        keys = keys[:1]
    unreadable = sum(not is_read_by(keys, wrapped) for wrapped in stored)
    if unreadable:
        print("the database holds keys of %d projects that are encrypted with another key" % unreadable, file=sys.stderr)
        sys.exit(78)


def manage(arguments):
    from barbican.cmd import barbican_manage as program

    sys.argv = ["barbican-manage", *arguments]
    sys.exit(program.main())


if __name__ == "__main__":
    main(*sys.argv[1:3])
    if sys.argv[3:]:
        manage(sys.argv[3:])
