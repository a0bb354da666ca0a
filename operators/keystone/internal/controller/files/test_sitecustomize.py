"""Tests of sitecustomize.py, with a PyMySQL that connects to nothing."""

import os
import pathlib
import sys
import types
import unittest
from unittest import mock

FILE = pathlib.Path(__file__).with_name("sitecustomize.py")
WAIT = "SET SESSION wsrep_sync_wait = 1"


def pymysql():
    """A module whose connections keep what they are made with."""

    class Connection:
        def __init__(self, host=None, **options):
            self.host, self.options = host, options

    module = types.ModuleType("pymysql")
    module.connections = types.ModuleType("pymysql.connections")
    module.connections.Connection = Connection
    return module


class WaitForWrites(unittest.TestCase):
    def start(self, driver, wait, **environment):
        """Does what Python does when it starts."""
        source = FILE.read_text(encoding="utf-8")
        changed = source.replace("\nWAIT_FOR_WRITES = False\n", f"\nWAIT_FOR_WRITES = {wait}\n")
        self.assertEqual(wait, changed != source)
        modules = {"pymysql": driver, "pymysql.connections": driver and driver.connections}
        with mock.patch.dict(sys.modules, modules), mock.patch.object(sys, "meta_path", list(sys.meta_path)), \
                mock.patch.dict(os.environ, environment, clear=True), mock.patch("configparser.BasicInterpolation.before_set"):
            exec(compile(changed, FILE, "exec"), {"__name__": "sitecustomize"})

    def connect(self, wait, *args, **options):
        driver = pymysql()
        self.start(driver, wait, OS_DATABASE__CONNECTION="mysql+pymysql://db")
        return driver.connections.Connection(*args, **options)

    def test_a_connection_waits_for_what_was_written_through_another(self):
        made = self.connect(True, "db", user="keystone")
        self.assertEqual((made.host, made.options), ("db", {"user": "keystone", "init_command": WAIT}))

    def test_a_command_of_somebody_elses_stays(self):
        self.assertEqual(self.connect(True, host="db", init_command="SET names utf8").options, {"init_command": "SET names utf8"})

    def test_a_server_that_may_be_no_mariadb_is_told_nothing(self):
        self.assertEqual(self.connect(False, "db").options, {})

    def test_a_process_does_not_go_on_without_it(self):
        with self.assertRaisesRegex(SystemExit, "wait for writes"):
            self.start(None, True, OS_DATABASE__CONNECTION="mysql+pymysql://db")

    def test_a_process_without_a_database_needs_no_driver(self):
        self.start(None, True)


if __name__ == "__main__":
    unittest.main()
