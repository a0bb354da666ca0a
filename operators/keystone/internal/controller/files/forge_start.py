"""Makes Keystone's processes start fast, take any password of the database, and answer each request.

It also keeps bootstrap from locking the administrator, and has tokens of EC2 credentials marked.
sitecustomize.py imports this module at every start of Python.
"""

import configparser
import functools
import gc
import glob
import os
import sys
from importlib import machinery, metadata, util

# The operator replaces this by whether spec.uwsgi.threads is above one.
SEVERAL_THREADS = False
# The operator replaces this by its own value of [auth] methods.
METHODS = ""
# Keystone marks tokens of EC2 and S3 credentials with this method. Nobody logs in with it.
MARKER = "ec2credential"


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


def configured_methods(folder):
    """Returns the value of [auth] methods in the configuration, of which oslo.config lets the last file win."""
    options = configparser.RawConfigParser(strict=False, allow_no_value=True)
    options.read(sorted(glob.glob(os.path.join(glob.escape(folder), "*.conf"))))
    return options.get("auth", "methods", fallback=None)


def mark_ec2_tokens(folder):
    """Adds the marker to the operator's own methods, in a Keystone that has it.

    Since the correction of CVE-2026-80182 such a Keystone issues no token for an EC2 or S3 credential
    without it. Another one has no plugin of that name, and would not start. It is the last of the
    methods, because tokens number them.
    """
    try:
        plugins = metadata.distribution("keystone").entry_points
        if any(plugin.group == "keystone.auth." + MARKER for plugin in plugins) and configured_methods(folder) == METHODS:
            os.environ.setdefault("OS_AUTH__METHODS", METHODS + "," + MARKER)
    except (metadata.PackageNotFoundError, configparser.Error):
        pass


class WhenImported:
    """Changes a module of Keystone once something has imported it.

    A finder, because a process that does not use the module must not pay for importing
    Keystone.
    """

    def __init__(self, name, change):
        self.name, self.change = name, change

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = machinery.PathFinder.find_spec(name, path)
        if spec is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            self.change(module)

        spec.loader.exec_module = exec_module
        return spec


def answer_errors(wsgi):
    """Puts forge_errors.py around the application when Keystone's own entry, or that of spec.middleware, makes it."""
    from forge_errors import answering

    make = wsgi.initialize_public_application
    wsgi.initialize_public_application = functools.wraps(make)(lambda: answering(make()))


def count_no_failures(backend):
    """Lets bootstrap try a password without locking the administrator.

    To find out whether to set the password, bootstrap logs in with it. Keystone forgets a failed
    login once the password is set. That does not happen if its own rules refuse the password, and
    each pod tries it again.
    """
    backend.Identity._record_failed_auth = lambda self, user_id: None


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


sys.meta_path.insert(0, WhenImported("keystone.server.wsgi", answer_errors))
# Only bootstrap has it.
if "OS_BOOTSTRAP_PASSWORD" in os.environ:
    sys.meta_path.insert(0, WhenImported("keystone.identity.backends.sql", count_no_failures))
# Before Python 3.12.2, a thread can find a module unloaded that another one is loading.
if not (SEVERAL_THREADS and runs_uwsgi()):
    sys.meta_path.insert(0, LoadLater())

if METHODS:
    mark_ec2_tokens(os.path.dirname(__file__))

if "OS_DATABASE__CONNECTION" in os.environ:
    accept_percent_signs(os.environ["OS_DATABASE__CONNECTION"])

# After all the above, which changes what is imported.
if runs_uwsgi():
    preload()
