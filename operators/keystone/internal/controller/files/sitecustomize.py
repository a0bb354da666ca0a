"""Makes Keystone's processes start fast, handle the database's URL as it is meant, and answer each request.

Python imports this module when it starts, because it is found through
PYTHONPATH.
"""

import configparser
import functools
import gc
import os
import sys
from importlib import machinery, util

# The operator replaces these by the mode of spec.database.tls, by whether the
# database may be several servers, and by whether spec.uwsgi.threads is above one.
REQUIRE_TLS = False
WAIT_FOR_WRITES = False
SEVERAL_THREADS = False


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


def wait_for_writes():
    """Has each connection read what was written through any server of a Galera cluster.

    A server acknowledges a write when the others have it, but before they have
    applied it, and each connection goes to one of them. A MariaDB that is no
    cluster takes the variable and never waits. oslo.db has an option for this
    only from 12.2 on; where that is set, it comes later and wins.
    """
    from pymysql import connections

    make = connections.Connection.__init__

    @functools.wraps(make)
    def waiting(self, *args, **options):
        options.setdefault("init_command", "SET SESSION wsrep_sync_wait = 1")
        make(self, *args, **options)

    connections.Connection.__init__ = waiting


class AnswerErrors:
    """Puts forge_errors.py around the application when Keystone's own entry, or that of spec.middleware, makes it.

    A finder, because a process that serves nothing must not pay for importing
    Keystone.
    """

    MAKER = "keystone.server.wsgi"

    def find_spec(self, name, path=None, target=None):
        if name != self.MAKER:
            return None
        sys.meta_path.remove(self)
        spec = machinery.PathFinder.find_spec(name, path)
        if spec is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module):
            from forge_errors import answering

            execute(module)
            make = module.initialize_public_application
            module.initialize_public_application = functools.wraps(make)(lambda: answering(make()))

        spec.loader.exec_module = exec_module
        return spec


class LoadLater:
    """Leaves Keystone's SAML identity provider unloaded until something asks it for anything.

    Every process of Keystone imports it, hardly any uses it, and it compiles the
    XML schemas of SAML, which takes a third of the CPU time of a start.
    """

    PROVIDER = "keystone.federation.idp"

    def find_spec(self, name, path=None, target=None):
        if name != self.PROVIDER:
            return None
        spec = machinery.PathFinder.find_spec(name, path)
        if spec is not None:
            spec.loader = util.LazyLoader(spec.loader)
        return spec


def runs_uwsgi():
    """Tells uWSGI, which the interpreter is part of, from programs written in Python."""
    try:
        return os.path.basename(os.readlink("/proc/self/exe")).startswith("uwsgi")
    except OSError:
        return False


def preload():
    """Imports Keystone for all processes of uWSGI, which are forks of this one.

    With --lazy-apps each one makes an application of its own, and would import
    Keystone for it. An import that fails is left to them: they fail alike, and
    their log says so. The garbage collector would write to all that was imported,
    and a page that a process writes to is no longer shared.
    """
    gc.disable()
    try:
        import keystone.server.wsgi  # noqa: F401
    except Exception:
        pass
    gc.freeze()
    gc.enable()


sys.meta_path.insert(0, AnswerErrors())
# Before Python 3.12.2, a thread can find a module unloaded that another one is loading.
if not (SEVERAL_THREADS and runs_uwsgi()):
    sys.meta_path.insert(0, LoadLater())

if "OS_DATABASE__CONNECTION" in os.environ:
    accept_percent_signs(os.environ["OS_DATABASE__CONNECTION"])
    if REQUIRE_TLS:
        try:
            refuse_plain_text()
        except Exception as error:
            # Python would go on without this module, and without encryption.
            raise SystemExit("the connection to the database cannot be protected: %r" % error)
    if WAIT_FOR_WRITES:
        try:
            wait_for_writes()
        except Exception as error:
            raise SystemExit("the connection to the database cannot be told to wait for writes: %r" % error)

# After all the above, which changes what is imported.
if runs_uwsgi():
    preload()
