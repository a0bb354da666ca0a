"""Corrects the driver of Glance for S3, whatever its release.

The driver is corrected when Glance imports it, and nothing happens in a program that does not.
"""

import importlib.abc
import importlib.util
import sys
import threading

DRIVER = "glance_store._drivers.s3"


def with_plain_host(store):
    """Keeps the scheme of the host out of comparisons with locations, which do not have it.

    Glance would rewrite the location of each image that somebody reads, also for users who must
    not change it.
    """
    configure = store.configure_add

    def configure_add(self):
        configure(self)
        self.s3_host = self.s3_host.split("://", 1)[-1]

    store.configure_add = configure_add


def with_current_credentials(store):
    """Reads images with the credentials of the configuration.

    The location of an image has those with which it was stored, which may be revoked by now.
    """
    create = store._create_s3_client

    def create_s3_client(self, loc):
        loc.accesskey, loc.secretkey = self.access_key, self.secret_key
        return create(self, loc)

    store._create_s3_client = create_s3_client


def bounded(executor):
    """Returns a class of executors that take a task once one of their threads is free.

    The driver hands all parts of an image to one, and a client that is faster than the object
    store would fill the memory.
    """

    class Bounded(executor):
        def __init__(self, max_workers):
            super().__init__(max_workers=max_workers)
            self.free = threading.Semaphore(max_workers)

        def submit(self, *args, **options):
            self.free.acquire()
            try:
                future = super().submit(*args, **options)
            except BaseException:
                self.free.release()
                raise
            future.add_done_callback(lambda _: self.free.release())
            return future

    return Bounded


class Threads:
    """Stands for the module concurrent.futures in the driver."""

    def __init__(self, module):
        self.module = module
        self.ThreadPoolExecutor = bounded(module.ThreadPoolExecutor)

    def __getattr__(self, name):
        return getattr(self.module, name)


def correct(module):
    with_plain_host(module.Store)
    with_current_credentials(module.Store)
    if hasattr(module, "futures"):
        module.futures = Threads(module.futures)


class Loader(importlib.abc.Loader):
    def __init__(self, loader):
        self.loader = loader

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        self.loader.exec_module(module)
        correct(module)


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name != DRIVER:
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, self)
        if spec is not None and spec.loader is not None:
            spec.loader = Loader(spec.loader)
        return spec


sys.meta_path.insert(0, Finder())
