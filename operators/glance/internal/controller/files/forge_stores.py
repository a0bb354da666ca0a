"""Corrects the driver of Glance for S3, whatever its release."""

import threading


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
