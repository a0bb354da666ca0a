"""Keeps Keystone serving while its memcached servers do not answer.

The memcached backends of dogpile.cache raise on a refused connection and wait
for ever on one that nobody answers, and not every one has an option against
it. Naming this module in [cache] proxies makes Keystone import it before it
opens its cache. It bounds every cache operation and turns a failed one into a
miss; after a failure the cache is left alone for a moment, so that an outage
costs one timeout now and then and not one for each request.

The backends are changed in place, because a proxy alone does not reach the
region in which Keystone notes invalidations.
"""

import functools
import logging
import time

from dogpile.cache import proxy
from dogpile.cache.api import NO_VALUE
from dogpile.cache.backends import memcached

OPERATION_SECONDS = 1.0
PAUSE_SECONDS = 10.0

LOG = logging.getLogger(__name__)

MISSES = {
    "get": lambda key: NO_VALUE,
    "get_multi": lambda keys: [NO_VALUE for _ in keys],
    "set": lambda *_: None,
    "set_multi": lambda *_: None,
    "delete": lambda *_: None,
    "delete_multi": lambda *_: None,
}


class Guard(proxy.ProxyBackend):
    """Only what [cache] proxies has to name; importing it does the work."""


class Outage:
    """Knows until when the cache is left alone."""

    def __init__(self):
        self.until = 0.0

    def lasts(self):
        return time.monotonic() < self.until

    def begin(self, cause):
        if not self.lasts():
            LOG.warning("The cache does not answer (%s); serving without it", cause)
        self.until = time.monotonic() + PAUSE_SECONDS


OUTAGE = Outage()


def guarded(operation, miss):
    """Wraps a cache operation so that it never raises and is paused in an outage."""

    @functools.wraps(operation)
    def call(self, *arguments):
        if OUTAGE.lasts():
            return miss(*arguments)
        started = time.monotonic()
        try:
            result = operation(self, *arguments)
        except Exception as error:
            OUTAGE.begin(type(error).__name__)
            return miss(*arguments)
        if time.monotonic() - started >= OPERATION_SECONDS:
            OUTAGE.begin("slow")
        return result

    return call


def bounded(create_client):
    """Wraps the making of a pymemcache client, which has no timeouts by default."""

    @functools.wraps(create_client)
    def call(self):
        client = create_client(self)
        hashed = getattr(client, "_client", client)
        for server in hashed.clients.values():
            server.timeout = server.connect_timeout = OPERATION_SECONDS
        hashed.default_kwargs.update(timeout=OPERATION_SECONDS, connect_timeout=OPERATION_SECONDS)
        return client

    return call


def install():
    names = ("GenericMemcachedBackend", "MemcachedBackend", "PyMemcacheBackend")
    for backend in (vars(memcached)[name] for name in names if name in vars(memcached)):
        for operation, miss in MISSES.items():
            if operation in vars(backend):
                setattr(backend, operation, guarded(vars(backend)[operation], miss))
        if "_create_client" in vars(backend) and backend.__name__ == "PyMemcacheBackend":
            backend._create_client = bounded(backend._create_client)


install()
