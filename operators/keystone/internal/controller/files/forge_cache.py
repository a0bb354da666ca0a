"""Lets Keystones share memcached servers, and keeps them serving while those do not answer.

What Keystone caches it files under names and ids that another Keystone has, too:
without the UID of its own in each key, it would take what the other one has cached,
such as the other one's tokens and users, for its own.

The memcached backends of dogpile.cache raise on a refused connection and wait
for ever on one that nobody answers, and not every one has an option against
it. Each cache operation is bounded here, and a failed one becomes a miss; after a
failure the cache is left alone for a moment, so that an outage costs one timeout
now and then and not one for each request.

A process that drops what it has cached, such as a revoked credential, relies on all
others to miss it from then on. So all processes of a Keystone use the same server of
those that a Service names, and what a process could not drop makes everything
invalid that was cached before.

Naming this module in [cache] proxies makes Keystone import it before it uses its
cache. The backends are changed in place, because a proxy alone does not reach the
region in which Keystone notes invalidations.
"""

import functools
import hashlib
import json
import logging
import socket
import time
from collections import namedtuple

from dogpile.cache import proxy
from dogpile.cache.api import NO_VALUE
from dogpile.cache.backends import memcached

# The operator replaces this by the UID of the Keystone, and what stands for its database after a restore.
KEYSPACE = ""
# The operator replaces this by the Service of a Memcached, as host and port.
SERVICE = ""

# memcached takes 250, of which a lock needs some for itself.
KEY_BYTES = 240

OPERATION_SECONDS = 1.0
PAUSE_SECONDS = 10.0
# How often a process looks up what all processes have to agree on.
LOOK_SECONDS = 10.0

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


def cached_at(value):
    """Tells when a value was cached, in seconds since 1970, as dogpile.cache notes it."""
    try:
        metadata = json.loads(value.partition(b"|")[0]) if isinstance(value, bytes) else value.metadata
        return metadata["ct"]
    except (AttributeError, KeyError, TypeError, ValueError):
        return 0.0


class Validity:
    """Knows since when all processes have dropped from the cache what they had to.

    The moment is in the cache itself, for the other processes and those to come.
    """

    KEY = "valid-since"

    def __init__(self):
        self.since = 0.0
        self.due = 0.0
        self.broken = False

    def lose(self, *_):
        self.broken = True

    def agree(self, backend):
        """Tells the other processes what was lost, or looks now and then what they have lost."""
        if self.broken:
            self.broken = False
            now = time.time()
            try:
                backend.client.set(own(self.KEY), now)
            except Exception:
                self.broken = True
                raise
            self.since = now
        elif time.monotonic() < self.due:
            return
        else:
            self.since = max(self.since, backend.client.get(own(self.KEY)) or 0.0)
        self.due = time.monotonic() + LOOK_SECONDS

    def valid(self, value):
        return NO_VALUE if value is NO_VALUE or cached_at(value) < self.since else value

    def valid_each(self, values):
        return [self.valid(value) for value in values]


VALIDITY = Validity()


class Servers:
    """Chooses the server to use of those that a headless Service names.

    Every process of a Keystone chooses the same one, and Keystones that share the
    servers choose different ones.
    """

    def __init__(self):
        self.chosen = None
        self.due = 0.0

    def lead(self, backend):
        """Makes the backend use the chosen server."""
        if not SERVICE:
            return
        if time.monotonic() >= self.due:
            self.look()
        if backend.url != [self.chosen]:
            backend.url = [self.chosen]
            # The clients of the threads are made from it.
            vars(backend).pop("_clients", None)

    def look(self):
        """Chooses anew. A server that was chosen once stays so while no name is resolved."""
        self.due = time.monotonic() + LOOK_SECONDS
        host, port = SERVICE.rsplit(":", 1)
        try:
            # The last dot keeps the resolver from trying its search domains first.
            found = {info[4][0] for info in socket.getaddrinfo(host + ".", int(port), type=socket.SOCK_STREAM)}
        except OSError:
            if self.chosen is None:
                self.due = 0.0
                raise
            return
        address = min(found, key=lambda one: hashlib.sha256((KEYSPACE + one).encode()).digest())
        server = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
        if self.chosen not in (None, server):
            # It may have been used before, and not have been told since.
            VALIDITY.lose()
        self.chosen = server


SERVERS = Servers()


def nothing(*_):
    return None


def unchanged(result):
    return result


# How an operation's first argument gets into the keyspace, what happens when the
# operation does not, and what of its result can be used.
Operation = namedtuple("Operation", "own miss use")

GET = Operation(own, lambda key: NO_VALUE, VALIDITY.valid)
GET_EACH = Operation(own_each, lambda keys: [NO_VALUE for _ in keys], VALIDITY.valid_each)
SET = Operation(own, VALIDITY.lose, unchanged)
SET_EACH = Operation(own_mapping, VALIDITY.lose, unchanged)
DELETE_EACH = Operation(own_each, VALIDITY.lose, unchanged)

OPERATIONS = {
    "get": GET,
    "get_serialized": GET,
    "get_multi": GET_EACH,
    "get_serialized_multi": GET_EACH,
    "set": SET,
    "set_serialized": SET,
    "set_multi": SET_EACH,
    "set_serialized_multi": SET_EACH,
    "delete": SET,
    "delete_multi": DELETE_EACH,
    # Without a lock of the cache's, the process uses one of its own.
    "get_mutex": Operation(own, nothing, unchanged),
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
            SERVERS.lead(self)
            VALIDITY.agree(self)
            result = method(self, operation.own(keys), *arguments)
        except Exception as error:
            OUTAGE.begin(type(error).__name__)
            return operation.miss(keys, *arguments)
        if time.monotonic() - started >= OPERATION_SECONDS:
            OUTAGE.begin("slow")
        return operation.use(result)

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
