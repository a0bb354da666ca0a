"""Makes a service handle the URL of its database as it is meant.

Python imports this module when it starts, because it is found through PYTHONPATH.
"""

import functools
import importlib
import importlib.abc
import importlib.util
import os
import sys

# The operator replaces these by the environment variable with the URL, by what the mode of
# spec.database.tls promises, by whether the database may be several servers, and by modules
# of the service itself that do more: at every start, and by the module that they correct.
VARIABLE = ""
REQUIRE_TLS = False
WAIT_FOR_WRITES = False
MODULES = []
CORRECTIONS = {}

# Only the pods of an API answer a readiness probe, in a process of uWSGI's own.
SERVES = "UWSGI_MULE" in os.environ
# More than any request needs between two statements, less than a client waits for an answer.
IDLE_SECONDS = 30


def refuse_plain_text():
    """Ends a connection to the database that is not encrypted before the login.

    PyMySQL logs in and goes on in plain text when a server does not offer TLS, whatever it
    was told to verify.
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


def allow_plain_text():
    """Goes on in plain text when a server does not offer TLS, as the mode prefer means it.

    PyMySQL from 1.2 on ends the connection instead if its URL says anything about TLS.
    """
    from pymysql import connections

    login = connections.Connection._request_authentication

    @functools.wraps(login)
    def encrypted_if_offered(self):
        self._ssl_required = False
        return login(self)

    connections.Connection._request_authentication = encrypted_if_offered


def accept_private_authorities():
    """Verifies a server's certificate without the strict checks of its form.

    Python 3.13 turns them on, and PyMySQL 1.2 turns them off for itself: they refuse a
    certificate that does not identify its authority's key, as those of many private authorities.
    """
    import ssl

    from pymysql import connections

    create = connections.Connection._create_ssl_ctx

    @functools.wraps(create)
    def lenient(self, options):
        context = create(self, options)
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        return context

    connections.Connection._create_ssl_ctx = lenient


def set_session_variables():
    """Sets what each connection needs of the database server, before its first statement.

    MariaDB from 11.6.2 on refuses a statement that changes a row which another transaction has
    changed meanwhile. OpenStack is written for the behaviour before that: oslo.db knows the error
    from 17.4 on only, and where nothing repeats the transaction, as for two failed logins of one
    user at once, the answer is 500. https://bugs.launchpad.net/nova/+bug/2116186

    A Galera server acknowledges a write when the others have it, but before they have applied
    it, and each connection goes to one of them: a read waits for that. A MariaDB that is no
    cluster takes the variable and never waits. oslo.db has an option for this only from 12.2
    on; where that is set, it comes later and wins.

    An API ends a transaction that it has left open: Keystone up to 27 reads the service
    providers for a token in one that lasts until Python collects it, and a migration that
    changes their table would wait for that. Tasks have no such limit: they may wait for another
    of their connections.

    MySQL has none of these variables, and reads the comments as such. The last assignment changes
    nothing, and ends the list for all of them.
    """
    from pymysql import connections

    variables = ["/*M!110602 innodb_snapshot_isolation = OFF, */"]
    if WAIT_FOR_WRITES:
        variables.append("wsrep_sync_wait = 1,")
    if SERVES:
        variables.append("/*M!100300 idle_transaction_timeout = %d, */" % IDLE_SECONDS)
    variables.append("wait_timeout = @@wait_timeout")
    make = connections.Connection.__init__

    @functools.wraps(make)
    def prepared(self, *args, **options):
        options.setdefault("init_command", "SET SESSION " + " ".join(variables))
        make(self, *args, **options)

    connections.Connection.__init__ = prepared


for wanted, change, purpose in (
    (REQUIRE_TLS, refuse_plain_text, "be protected"),
    (REQUIRE_TLS, accept_private_authorities, "be verified"),
    (True, set_session_variables, "have its variables set"),
    (not REQUIRE_TLS, allow_plain_text, "be made in plain text"),
):
    if wanted and VARIABLE in os.environ:
        try:
            change()
        except Exception as error:
            # Python would go on without this module, and without what it does.
            raise SystemExit("the connection to the database cannot %s: %r" % (purpose, error))

class Loader(importlib.abc.Loader):
    """Loads a module of the image, and has it corrected."""

    def __init__(self, loader, correction):
        self.loader, self.correction = loader, correction

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        self.loader.exec_module(module)
        importlib.import_module(self.correction).correct(module)


class Finder(importlib.abc.MetaPathFinder):
    """Finds the modules of the image that others correct."""

    def find_spec(self, name, path=None, target=None):
        if name not in CORRECTIONS:
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, self)
        if spec is not None and spec.loader is not None:
            spec.loader = Loader(spec.loader, CORRECTIONS[name])
        return spec


if CORRECTIONS:
    sys.meta_path.insert(0, Finder())

for name in MODULES:
    importlib.import_module(name)
