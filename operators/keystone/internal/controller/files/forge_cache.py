"""Lets Keystones share memcached servers, and keeps them serving while those do not answer.

What Keystone caches it files under names and ids that another Keystone has, too:
without the UID of its own in each key, it would take what the other one has cached,
such as the other one's tokens and users, for its own.

The memcached backends of dogpile.cache raise on a refused connection and wait
for ever on one that nobody answers, and not every one has an option against
it. Each cache operation is bounded here, and a failed one becomes a miss; after a
failure the cache is left alone for a moment, so that an outage costs one timeout
now and then and not one for each request.

Naming this module in [cache] proxies makes Keystone import it before it uses its
cache. The backends are changed in place, because a proxy alone does not reach the
region in which Keystone notes invalidations.
"""

import functools
import hashlib
import logging
import time
from collections import namedtuple

from dogpile.cache import proxy
from dogpile.cache.api import NO_VALUE
from dogpile.cache.backends import memcached

# The operator replaces this by the UID of the Keystone.
KEYSPACE = ""

# memcached takes 250, of which a lock needs some for itself.
KEY_BYTES = 240

OPERATION_SECONDS = 1.0
PAUSE_SECONDS = 10.0

LOG = logging.getLogger(__name__)


def own(key):
    """Puts a key into the keyspace, where one may be already: backends build some operations of others."""
    prefix = KEYSPACE + ":"
    if key.startswith(prefix):
        return key
    if len((prefix + key).encode()) > KEY_BYTES:
        key = hashlib.sha256(key.encode()).hexdigest()
    return prefix + key


def own_each(keys):
    return [own(key) for key in keys]


def own_mapping(mapping):
    return {own(key): value for key, value in mapping.items()}


def nothing(*_):
    return None


# How an operation's first argument gets into the keyspace, and what a miss answers.
Operation = namedtuple("Operation", "own miss")

GET = Operation(own, lambda key: NO_VALUE)
GET_EACH = Operation(own_each, lambda keys: [NO_VALUE for _ in keys])
SET = Operation(own, nothing)
SET_EACH = Operation(own_mapping, nothing)

OPERATIONS = {
    "get": GET,
    "get_serialized": GET,
    "get_multi": GET_EACH,
    "get_serialized_multi": GET_EACH,
    "set": SET,
    "set_serialized": SET,
    "set_multi": SET_EACH,
    "set_serialized_multi": SET_EACH,
    "delete": Operation(own, nothing),
    "delete_multi": Operation(own_each, nothing),
    # Without a lock of the cache's, the process uses one of its own.
    "get_mutex": Operation(own, nothing),
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


def guarded(method, operation):
    """Wraps a cache operation so that it stays in the keyspace, never raises and is paused in an outage."""

    @functools.wraps(method)
    def call(self, keys, *arguments):
        if OUTAGE.lasts():
            return operation.miss(keys, *arguments)
        started = time.monotonic()
        try:
            result = method(self, operation.own(keys), *arguments)
        except Exception as error:
            OUTAGE.begin(type(error).__name__)
            return operation.miss(keys, *arguments)
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
    generic = memcached.GenericMemcachedBackend
    for backend in [kind for kind in vars(memcached).values() if isinstance(kind, type) and issubclass(kind, generic)]:
        for name, operation in OPERATIONS.items():
            if name in vars(backend):
                setattr(backend, name, guarded(vars(backend)[name], operation))
        if "_create_client" in vars(backend) and backend.__name__ == "PyMemcacheBackend":
            backend._create_client = bounded(backend._create_client)


install()
