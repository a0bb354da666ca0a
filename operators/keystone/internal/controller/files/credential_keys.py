"""Ends with 78 when the database holds credentials that no key can read.

Usage: credential_keys.py DIRECTORY [ARGUMENT...]

Otherwise it goes on as keystone-manage with the arguments, in the same process: another
one would have to import most of this one's modules again.

Keystone marks each credential with the SHA-1 of the key it is encrypted with
(keystone.credential.providers.fernet.core.primary_key_hash). A directory that
does not exist holds no keys, and a database without the table no credentials.
"""

import hashlib
import os
import sys

import sqlalchemy
from sqlalchemy import exc


def hashes_of_keys(directory):
    hashes = set()
    for name in os.listdir(directory) if os.path.isdir(directory) else []:
        if name.isdigit():
            with open(os.path.join(directory, name), "rb") as key:
                hashes.add(hashlib.sha1(key.read()).hexdigest())
    return hashes


def hashes_in_database(url):
    engine = sqlalchemy.create_engine(url)
    with engine.connect() as connection:
        if not engine.dialect.has_table(connection, "credential"):
            return set()
        rows = connection.execute(sqlalchemy.text("SELECT DISTINCT key_hash FROM credential"))
        return {row[0] for row in rows}


def main(directory):
    try:
        stored = hashes_in_database(os.environ["OS_DATABASE__CONNECTION"])
    except exc.DBAPIError as error:
        sys.exit(str(error))
    unreadable = stored - hashes_of_keys(directory)
    if unreadable:
        print("the database holds credentials that are encrypted with %d other keys" % len(unreadable), file=sys.stderr)
        sys.exit(78)


def manage(arguments):
    from keystone.cmd import manage as program

    sys.argv = ["keystone-manage", *arguments]
    sys.exit(program.main())


if __name__ == "__main__":
    main(sys.argv[1])
    if sys.argv[2:]:
        manage(sys.argv[2:])
