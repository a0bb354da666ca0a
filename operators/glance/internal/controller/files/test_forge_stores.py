"""Tests of forge_stores.py, with drivers as different releases have them."""

import os
import pathlib
import textwrap
import threading
import types
import unittest
from concurrent import futures

FILE = pathlib.Path(__file__).with_name("forge_stores.py")
DRIVER = """
    {imports}

    class Store:
        def configure_add(self):
            self.s3_host, self.access_key, self.secret_key = "https://s3.example.com:9000", "new", "s3cret"

        def _create_s3_client(self, loc):
            return loc.accesskey, loc.secretkey
"""


class Stores(unittest.TestCase):
    def driver(self, imports="from concurrent import futures"):
        """Returns the driver as Glance has it."""
        driver, correction = {}, {}
        exec(textwrap.dedent(DRIVER).format(imports=imports), driver)
        exec(compile(FILE.read_text(encoding="utf-8"), FILE, "exec"), correction)
        module = types.SimpleNamespace(**driver)
        correction["correct"](module)
        return module

    def store(self):
        store = self.driver().Store()
        store.configure_add()
        return store

    def test_a_host_is_compared_without_its_scheme(self):
        self.assertEqual(self.store().s3_host, "s3.example.com:9000")

    def test_an_image_is_read_with_current_credentials(self):
        location = types.SimpleNamespace(accesskey="old", secretkey="revoked")
        self.assertEqual(self.store()._create_s3_client(location), ("new", "s3cret"))

    def test_a_driver_without_threads_is_corrected_too(self):
        self.assertFalse(hasattr(self.driver("import os"), "futures"))

    def test_parts_wait_for_a_thread(self):
        driver, proceed, submitted = self.driver(), threading.Event(), []
        executor = driver.futures.ThreadPoolExecutor(max_workers=2)

        def submit():
            for part in range(3):
                executor.submit(proceed.wait)
                submitted.append(part)

        client = threading.Thread(target=submit)
        client.start()
        while len(submitted) < 2:
            os.sched_yield()
        self.assertFalse(executor.free.acquire(blocking=False))
        self.assertEqual(submitted, [0, 1])
        proceed.set()
        client.join()
        executor.shutdown()
        self.assertEqual(submitted, [0, 1, 2])
        self.assertIs(driver.futures.wait, futures.wait)


if __name__ == "__main__":
    unittest.main()
