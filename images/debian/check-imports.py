"""Imports all that an OpenStack service can load at run time: its package, and the
modules that are named besides. Those named with a minus are left out.

Run in the finished root file system, so that a package that was left out by
mistake fails the build and not a request.
"""

import importlib
import pkgutil
import sys

PACKAGES = [sys.argv[1], "keystonemiddleware", "oslo_middleware", "oslo_policy"]
MODULES = [
    "dogpile.cache.backends.memcached",
    "memcache",
    "oslo_cache.backends.memcache_pool",
    "oslo_cache.backends.dictionary",
    "paste.deploy",
    "pymemcache",
    "pymysql",
    "uuid",
    *(name for name in sys.argv[2:] if not name.startswith("-")),
]
LEFT_OUT = [name[1:] for name in sys.argv[2:] if name.startswith("-")]
# Importing these runs a program, serves an API or migrates a database.
RUN = (".__main__", ".alembic.env", ".alembic_migrations.env", ".migrations.env", ".wsgi.api")
# These are for tests, for building documentation, and for checking the service's own code.
DEVELOPMENT = (".direct", ".fixture", ".hacking.checks", ".sphinxext", ".sphinxpolicygen")


def submodules(name):
    package = importlib.import_module(name)
    for info in pkgutil.walk_packages(package.__path__, name + "."):
        if not info.name.endswith(RUN + DEVELOPMENT) and info.name not in LEFT_OUT:
            yield info.name


def main():
    failed = {}
    names = MODULES + [m for p in PACKAGES for m in submodules(p)]
    for name in names:
        try:
            importlib.import_module(name)
        except Exception as error:
            failed[name] = error
    for name, error in sorted(failed.items()):
        print(f"cannot import {name}: {error!r}", file=sys.stderr)
    sys.exit(bool(failed))


main()
