"""Refuses connections to the database that are not encrypted.

PyMySQL logs in and goes on in plain text when a server does not offer TLS,
whatever it was told to verify. Python imports this module when it starts,
because it is found through PYTHONPATH; it is only there with a
spec.database.tls.mode that promises encryption.
"""

import functools
import os


def encrypted(authenticate):
    """Wraps the login so that it only happens once TLS is certain."""
    from pymysql import err
    from pymysql.constants import CLIENT, CR

    @functools.wraps(authenticate)
    def call(self):
        if not (self.ssl and self.server_capabilities & CLIENT.SSL):
            raise err.OperationalError(CR.CR_SSL_CONNECTION_ERROR, "The database server does not offer TLS")
        return authenticate(self)

    return call


def install():
    from pymysql import connections

    login = connections.Connection._request_authentication
    connections.Connection._request_authentication = encrypted(login)


if "OS_DATABASE__CONNECTION" in os.environ:
    try:
        install()
    except Exception as error:
        # Python would go on without this module, and without encryption.
        raise SystemExit("the connection to the database cannot be protected: %r" % error)
