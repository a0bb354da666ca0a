"""Tests of forge_cache.py, with backends that are built as those of dogpile.cache are."""

import collections
import functools
import importlib.util
import json
import logging
import pathlib
import socket
import sys
import time
import types
import unittest
from unittest import mock

NO_VALUE = object()
LONGEST_KEY = 250


CachedValue = collections.namedtuple("CachedValue", "payload metadata")


def cached(payload, at=None):
    """Returns a value as dogpile.cache notes it, by default one of now."""
    return CachedValue(payload, {"ct": time.time() if at is None else at})


class Server(dict):
    """A memcached, which refuses keys as its clients do."""

    def __init__(self):
        super().__init__()
        self.asked = 0
        self.away = False

    def take(self, key):
        self.asked += 1
        if self.away:
            raise ConnectionRefusedError
        if len(key.encode()) > LONGEST_KEY:
            raise ValueError("the key is too long")
        return key


# The servers by the addresses that a Service names them by.
ADDRESSES = {}


class Client:
    def __init__(self, server):
        self.server = server

    def get(self, key):
        return self.server.get(self.server.take(key))

    def get_multi(self, keys):
        return {key: self.server[key] for key in map(self.server.take, keys) if key in self.server}

    def set(self, key, value):
        self.server[self.server.take(key)] = value

    def set_multi(self, mapping):
        for key, value in mapping.items():
            self.set(key, value)

    def delete(self, key):
        self.server.pop(self.server.take(key), None)

    def delete_multi(self, keys):
        for key in keys:
            self.delete(key)


def backends():
    """Returns the classes anew: installing the guard changes them."""

    class GenericMemcachedBackend:
        def __init__(self, server):
            self.url = ["memcached:11211"]
            self.server = server

        @property
        def client(self):
            # As a memoized property does, whatever the thread.
            if "_clients" not in vars(self):
                self._clients = Client(ADDRESSES.get(self.url[0], self.server))
            return self._clients

        def get(self, key):
            value = self.client.get(key)
            return NO_VALUE if value is None else value

        def get_multi(self, keys):
            values = self.client.get_multi(keys)
            return [values.get(key, NO_VALUE) for key in keys]

        def get_serialized(self, key):
            return self.get(key)

        def set(self, key, value):
            self.client.set(key, value)

        def set_multi(self, mapping):
            self.client.set_multi(mapping)

        def delete(self, key):
            self.client.delete(key)

        def delete_multi(self, keys):
            self.client.delete_multi(keys)

        def get_mutex(self, key):
            return "_lock" + key

    class MemcachedBackend(GenericMemcachedBackend):
        pass

    class PyMemcacheBackend(GenericMemcachedBackend):
        def _create_client(self):
            return types.SimpleNamespace(clients={"memcached": types.SimpleNamespace()}, default_kwargs={})

    class BMemcachedBackend(GenericMemcachedBackend):
        def delete_multi(self, keys):
            for key in keys:
                self.delete(key)

    return {name: kind for name, kind in locals().items() if isinstance(kind, type)}


class Keystone:
    """A process of a Keystone that has imported forge_cache.py."""

    def __init__(self, uid):
        self.kinds = backends()
        memcached = types.SimpleNamespace(**self.kinds)
        # oslo.cache derives its own backend from dogpile's.
        self.kinds["PooledMemcachedBackend"] = type("PooledMemcachedBackend", (memcached.MemcachedBackend,), {})
        modules = {
            "dogpile": types.SimpleNamespace(),
            "dogpile.cache": types.SimpleNamespace(proxy=types.SimpleNamespace(ProxyBackend=object)),
            "dogpile.cache.api": types.SimpleNamespace(NO_VALUE=NO_VALUE),
            "dogpile.cache.backends": types.SimpleNamespace(memcached=memcached),
        }
        spec = importlib.util.spec_from_file_location("forge_cache", pathlib.Path(__file__).with_name("forge_cache.py"))
        self.module = importlib.util.module_from_spec(spec)
        with mock.patch.dict(sys.modules, modules):
            spec.loader.exec_module(self.module)
        self.module.KEYSPACE = uid

    def cache(self, kind, server):
        return self.kinds[kind](server)

    def after_the_pause(self):
        """Lets an outage be over, and what is looked up now and then be due."""
        self.module.OUTAGE.until = self.module.SERVERS.due = self.module.VALIDITY.due = 0.0


KINDS = ("GenericMemcachedBackend", "MemcachedBackend", "PyMemcacheBackend", "BMemcachedBackend", "PooledMemcachedBackend")
ONE = "5f0b8f0e-6f5e-4c43-9d0e-0b6f4f1f4a11"
OTHER = "c1a4f1b2-90a7-4d6b-8a53-2d8f6b1d7e22"


def with_each_backend(test):
    """Runs a test of two Keystones and the server that they share."""

    @functools.wraps(test)
    def run(self):
        for kind in KINDS:
            with self.subTest(kind):
                server = Server()
                test(self, Keystone(ONE).cache(kind, server), Keystone(OTHER).cache(kind, server), server)

    return run


class SharedServer(unittest.TestCase):
    @with_each_backend
    def test_what_one_keystone_caches_another_one_does_not_find(self, one, other, server):
        one.set("token", "of one")
        one.set_multi({"region": "of one", "user": "of one"})
        self.assertIs(other.get("token"), NO_VALUE)
        self.assertIs(other.get_serialized("region"), NO_VALUE)
        self.assertEqual(other.get_multi(["token", "region", "user"]), [NO_VALUE] * 3)
        other.delete("token")
        other.delete_multi(["region", "user"])
        other.set("token", "of the other")
        self.assertEqual(one.get_multi(["token", "region", "user"]), ["of one"] * 3)

    @with_each_backend
    def test_every_key_carries_the_uid(self, one, other, server):
        one.set("token", 1)
        other.set_multi({"token": 1, "region": 1})
        self.assertEqual(sorted(server), sorted([ONE + ":token", OTHER + ":token", OTHER + ":region"]))

    @with_each_backend
    def test_every_operation_finds_what_another_one_has_cached(self, one, _, server):
        one.set("token", 1)
        one.set_multi({"region": 2})
        self.assertEqual(one.get_multi(["region", "missing", "token"]), [2, NO_VALUE, 1])
        self.assertEqual((one.get("token"), one.get("region"), one.get_serialized("region")), (1, 2, 2))
        one.delete("token")
        one.delete_multi(["region"])
        self.assertFalse(server)

    @with_each_backend
    def test_a_key_that_the_uid_makes_too_long_is_shortened(self, one, other, server):
        for length in (LONGEST_KEY - len(ONE), LONGEST_KEY, 4 * LONGEST_KEY):
            key = "ü" * (length // 2)
            one.set(key, length)
            self.assertEqual(one.get(key), length)
            self.assertEqual(one.get_multi([key]), [length])
            self.assertIs(other.get(key), NO_VALUE)
        self.assertEqual(len(server), 3)

    @with_each_backend
    def test_locks_are_apart_and_their_keys_are_not_too_long(self, one, other, _):
        for key in ("token", "t" * LONGEST_KEY, "t" * (LONGEST_KEY - len(ONE) - 1)):
            self.assertNotEqual(one.get_mutex(key), other.get_mutex(key))
            self.assertLessEqual(len(one.get_mutex(key)), LONGEST_KEY)


class Outage(unittest.TestCase):
    def setUp(self):
        logging.disable()
        self.addCleanup(logging.disable, logging.NOTSET)

    def test_a_server_that_is_away_is_a_miss_and_left_alone_for_a_while(self):
        server, keystone = Server(), Keystone(ONE)
        cache = keystone.cache("PyMemcacheBackend", server)
        cache.set("token", 1)
        server.away = True
        self.assertIs(cache.get("token"), NO_VALUE)
        asked = server.asked
        self.assertEqual(cache.get_multi(["token", "region"]), [NO_VALUE] * 2)
        for result in (cache.set("token", 2), cache.set_multi({"token": 2}), cache.delete("token"), cache.delete_multi(["token"])):
            self.assertIsNone(result)
        self.assertEqual(server.asked, asked)
        server.away = False
        keystone.after_the_pause()
        self.assertIs(cache.get("token"), NO_VALUE)
        cache.set("token", cached(2))
        self.assertEqual(cache.get("token").payload, 2)

    def test_clients_of_pymemcache_wait_for_a_second_only(self):
        client = Keystone(ONE).cache("PyMemcacheBackend", Server())._create_client()
        for options in (vars(client.clients["memcached"]), client.default_kwargs):
            self.assertEqual(options, {"timeout": 1.0, "connect_timeout": 1.0})

    def test_what_a_process_could_not_drop_is_a_miss_for_all(self):
        for drop in (lambda cache: cache.delete("token"), lambda cache: cache.delete_multi(["token"]), lambda cache: cache.set("token", 2)):
            server, one, other = Server(), Keystone(ONE), Keystone(ONE)
            cache, others = one.cache("PyMemcacheBackend", server), other.cache("PyMemcacheBackend", server)
            others.set("token", cached("valid"))
            server.away = True
            drop(cache)
            server.away = False
            self.assertEqual(others.get("token").payload, "valid")
            one.after_the_pause()
            cache.get("user")
            other.after_the_pause()
            self.assertIs(others.get("token"), NO_VALUE)
            self.assertEqual(others.get_multi(["token"]), [NO_VALUE])
            self.assertIs(Keystone(ONE).cache("PyMemcacheBackend", server).get("token"), NO_VALUE)

    def test_what_is_cached_after_a_loss_is_found(self):
        server, keystone = Server(), Keystone(ONE)
        cache = keystone.cache("PyMemcacheBackend", server)
        server.away = True
        cache.delete("token")
        server.away = False
        keystone.after_the_pause()
        cache.get("user")
        cache.set("token", cached("new"))
        later = time.time() + 1
        cache.set("serialized", json.dumps({"ct": later, "v": 1}).encode() + b"|payload")
        self.assertEqual(cache.get("token").payload, "new")
        self.assertTrue(cache.get_serialized("serialized").endswith(b"|payload"))
        cache.set("serialized", json.dumps({"ct": 1.5, "v": 1}).encode() + b"|payload")
        self.assertIs(cache.get_serialized("serialized"), NO_VALUE)

    def test_a_loss_is_told_until_the_server_has_heard_of_it(self):
        server, keystone = Server(), Keystone(ONE)
        cache = keystone.cache("PyMemcacheBackend", server)
        cache.set("token", cached("old"))
        server.away = True
        cache.delete("token")
        keystone.after_the_pause()
        cache.get("user")
        server.away = False
        keystone.after_the_pause()
        self.assertIs(cache.get("token"), NO_VALUE)

    def test_the_others_are_not_asked_at_each_operation(self):
        server, keystone = Server(), Keystone(ONE)
        cache = keystone.cache("PyMemcacheBackend", server)
        cache.get("token")
        asked = server.asked
        for _ in range(10):
            cache.get("token")
        self.assertEqual(server.asked, asked + 10)


class SeveralServers(unittest.TestCase):
    def setUp(self):
        logging.disable()
        self.addCleanup(logging.disable, logging.NOTSET)
        ADDRESSES.clear()
        self.names("10.0.0.1", "10.0.0.2", "fd00::3")
        resolver = mock.patch.object(socket, "getaddrinfo", self.resolve)
        resolver.start()
        self.addCleanup(resolver.stop)

    def names(self, *addresses):
        self.named = addresses
        for address in addresses:
            ADDRESSES.setdefault(f"[{address}]:11211" if ":" in address else f"{address}:11211", Server())

    def resolve(self, host, port, **_):
        self.assertEqual((host, port), ("cache.openstack.svc.cluster.local.", 11211))
        if not self.named:
            raise socket.gaierror
        # Name servers change the order.
        self.named = self.named[1:] + self.named[:1]
        return [(None, None, None, None, (address, port)) for address in self.named]

    def process(self, uid=ONE, kind="PyMemcacheBackend"):
        keystone = Keystone(uid)
        keystone.module.SERVICE = "cache.openstack.svc.cluster.local:11211"
        return keystone, keystone.cache(kind, Server())

    def test_all_processes_use_the_same_server(self):
        _, first = self.process()
        first.set("token", cached("valid"))
        for kind in KINDS:
            _, other = self.process(kind=kind)
            self.assertEqual(other.get("token").payload, "valid")
            other.set(kind, cached(1))
            self.assertEqual(first.get(kind).payload, 1)
        self.assertEqual(sum(map(bool, ADDRESSES.values())), 1)

    def test_keystones_are_spread(self):
        for number in range(50):
            self.process(str(number))[1].set("token", cached(1))
        self.assertTrue(all(ADDRESSES.values()))

    def test_when_a_server_goes_the_next_one_is_used_and_on_its_return_nothing_old_is_found(self):
        keystone, cache = self.process()
        cache.set("token", cached("valid"))
        (used,) = (name for name, server in ADDRESSES.items() if server)
        others = [address for address in self.named if address not in used]
        self.names(*others)
        keystone.after_the_pause()
        self.assertIs(cache.get("token"), NO_VALUE)
        cache.delete("token")
        self.names(used.rsplit(":", 1)[0].strip("[]"), *others)
        keystone.after_the_pause()
        self.assertIs(cache.get("token"), NO_VALUE)
        self.assertIn(ONE + ":token", ADDRESSES[used])
        self.assertIs(self.process()[1].get("token"), NO_VALUE)

    def test_a_name_that_is_not_resolved_for_a_while_changes_nothing(self):
        keystone, cache = self.process()
        cache.set("token", cached("valid"))
        self.names()
        keystone.after_the_pause()
        self.assertEqual(cache.get("token").payload, "valid")

    def test_without_an_address_there_is_no_cache(self):
        self.names()
        server = Server()
        keystone = Keystone(ONE)
        keystone.module.SERVICE = "cache.openstack.svc.cluster.local:11211"
        cache = keystone.cache("PyMemcacheBackend", server)
        cache.set("token", cached("valid"))
        self.assertIs(cache.get("token"), NO_VALUE)
        self.assertEqual(server.asked, 0)
        self.names("10.0.0.1")
        keystone.after_the_pause()
        cache.get("user")
        cache.set("token", cached("valid"))
        self.assertEqual(cache.get("token").payload, "valid")


if __name__ == "__main__":
    unittest.main()
