"""Makes Keystone's processes handle the database's URL as it is meant.

Python imports this module when it starts, because it is found through
PYTHONPATH.
"""

import configparser
import functools
import os

# The operator replaces this by the mode of spec.database.tls.
REQUIRE_TLS = False


def accept_percent_signs(url):
    """Lets db_sync hand the URL to alembic.

    alembic keeps it in a ConfigParser, for which a percent sign begins an
    interpolation, and any character but letters and digits of a password is
    written with one.
    """
    before_set = configparser.BasicInterpolation.before_set

    @functools.wraps(before_set)
    def escaped(self, parser, section, option, value):
        if value == url:
            return value.replace("%", "%%")
        return before_set(self, parser, section, option, value)

    configparser.BasicInterpolation.before_set = escaped


def refuse_plain_text():
    """Ends a connection to the database that is not encrypted before the login.

    PyMySQL logs in and goes on in plain text when a server does not offer TLS,
    whatever it was told to verify.
    """
    from pymysql import connections, err
    from pymysql.constants import CLIENT, CR

    login = connections.Connection._request_authentication

    @functools.wraps(login)
    def encrypted(self):
        if not (self.ssl and self.server_capabilities & CLIENT.SSL):
            raise err.OperationalError(CR.CR_SSL_CONNECTION_ERROR, "The database server does not offer TLS")
        return login(self)

    connections.Connection._request_authentication = encrypted


if "OS_DATABASE__CONNECTION" in os.environ:
    accept_percent_signs(os.environ["OS_DATABASE__CONNECTION"])
    if REQUIRE_TLS:
        try:
            refuse_plain_text()
        except Exception as error:
            # Python would go on without this module, and without encryption.
            raise SystemExit("the connection to the database cannot be protected: %r" % error)
