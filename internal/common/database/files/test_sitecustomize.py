"""Tests of sitecustomize.py, with a PyMySQL that connects to nothing."""

import importlib.util
import os
import pathlib
import re
import ssl
import sys
import tempfile
import types
import unittest
from unittest import mock

FILE = pathlib.Path(__file__).with_name("sitecustomize.py")
AS_BEFORE = "SET SESSION /*M!110602 innodb_snapshot_isolation = OFF, */ "
WAIT = "wsrep_sync_wait = 1, "
END_IDLE = "/*M!100300 idle_transaction_timeout = 30, */ "
END = "wait_timeout = @@wait_timeout"


def pymysql():
    """A module whose connections keep what they are made with."""

    class Connection:
        def __init__(self, host=None, **options):
            self.host, self.options = host, options

        def _create_ssl_ctx(self, options):
            context = ssl.create_default_context(cafile=options.get("ca"))
            context.verify_flags |= ssl.VERIFY_X509_STRICT
            return context

        def _request_authentication(self):
            return "logged in"

    module = types.ModuleType("pymysql")
    module.connections = types.ModuleType("pymysql.connections")
    module.connections.Connection = Connection
    return module


def start(driver, constants, environment):
    """Does what Python does when it starts."""
    source = FILE.read_text(encoding="utf-8")
    for name, value in {"VARIABLE": "OS_HARBOUR__CONNECTION", **constants}.items():
        source, count = re.subn(r"(?m)^%s = .*$" % name, "%s = %r" % (name, value), source)
        assert count == 1, name
    modules = {"pymysql": driver}
    for name in ("connections", "err", "constants"):
        modules["pymysql." + name] = getattr(driver, name, None)
    with mock.patch.dict(sys.modules, modules), mock.patch.dict(os.environ, environment, clear=True):
        exec(compile(source, FILE, "exec"), {"__name__": "sitecustomize"})


class SetSessionVariables(unittest.TestCase):
    def start(self, driver, wait, **environment):
        start(driver, {"WAIT_FOR_WRITES": wait}, environment)

    def connect(self, wait, *args, environment={}, **options):
        driver = pymysql()
        self.start(driver, wait, OS_HARBOUR__CONNECTION="mysql+pymysql://db", **environment)
        return driver.connections.Connection(*args, **options)

    def test_a_connection_waits_for_what_was_written_through_another(self):
        made = self.connect(True, "db", user="harbour")
        self.assertEqual((made.host, made.options), ("db", {"user": "harbour", "init_command": AS_BEFORE + WAIT + END}))

    def test_a_command_of_somebody_elses_stays(self):
        self.assertEqual(self.connect(True, host="db", init_command="SET names utf8").options, {"init_command": "SET names utf8"})

    def test_a_task_sets_nothing_on_a_server_that_is_no_mariadb(self):
        command = self.connect(False, "db").options["init_command"]
        self.assertEqual(command, AS_BEFORE + END)
        self.assertEqual(re.sub(r"/\*M!.*?\*/", "", command).split(), ["SET", "SESSION", *END.split()])

    def test_an_api_leaves_no_transaction_open_for_longer_than_a_client_waits(self):
        api = {"UWSGI_MULE": "/etc/harbour/ready.py"}
        self.assertEqual(self.connect(True, "db", environment=api).options, {"init_command": AS_BEFORE + WAIT + END_IDLE + END})
        self.assertEqual(self.connect(False, "db", environment=api).options, {"init_command": AS_BEFORE + END_IDLE + END})

    def test_a_process_does_not_go_on_without_it(self):
        with self.assertRaisesRegex(SystemExit, "have its variables set"):
            self.start(None, True, OS_HARBOUR__CONNECTION="mysql+pymysql://db")

    def test_a_process_without_a_database_needs_no_driver(self):
        self.start(None, True)


def requiring_tls():
    """Returns a driver that would log in anyway, after a start that asks for TLS."""
    driver = pymysql()
    driver.err = types.SimpleNamespace(OperationalError=type("OperationalError", (Exception,), {}))
    driver.constants = types.SimpleNamespace(
        CLIENT=types.SimpleNamespace(SSL=2), CR=types.SimpleNamespace(CR_SSL_CONNECTION_ERROR=2026))
    start(driver, {"REQUIRE_TLS": True}, {"OS_HARBOUR__CONNECTION": "mysql+pymysql://db"})
    return driver


class RefusePlainText(unittest.TestCase):
    def login(self, encrypted, offered):
        """Returns what a login leads to."""
        driver = requiring_tls()
        connection = driver.connections.Connection()
        connection.ssl, connection.server_capabilities = encrypted, offered
        try:
            return connection._request_authentication()
        except driver.err.OperationalError as error:
            return str(error)

    def test_a_server_that_offers_no_encryption_gets_no_login(self):
        self.assertIn("does not offer TLS", self.login(encrypted=True, offered=1))

    def test_a_connection_that_asks_for_no_encryption_gets_no_login(self):
        self.assertIn("does not offer TLS", self.login(encrypted=False, offered=3))

    def test_an_encrypted_connection_logs_in(self):
        self.assertEqual(self.login(encrypted=True, offered=3), "logged in")

    def test_a_process_does_not_go_on_without_it(self):
        with self.assertRaisesRegex(SystemExit, "be protected"):
            start(None, {"REQUIRE_TLS": True}, {"OS_HARBOUR__CONNECTION": "mysql+pymysql://db"})


@unittest.skipUnless(importlib.util.find_spec("pymysql"), "PyMySQL is not installed")
class AllowPlainText(unittest.TestCase):
    def login(self, constants):
        """Returns what PyMySQL sends to a server that does not offer TLS, with a URL that asks for it."""
        import pymysql.constants
        from pymysql import connections

        class Connection(connections.Connection):
            """Keeps the class of PyMySQL as it is."""

        driver = types.SimpleNamespace(err=pymysql.err, constants=pymysql.constants, connections=types.ModuleType("connections"))
        driver.connections.Connection = Connection
        start(driver, constants, {"OS_HARBOUR__CONNECTION": "mysql+pymysql://db"})
        made = Connection(user="harbour", password="", ssl={"check_hostname": False}, defer_connect=True)
        made.server_capabilities, made.server_version, made._auth_plugin_name, made.salt = 0, "11.8.3", "", b""
        made.write_packet = mock.Mock()
        made._read_packet = mock.Mock()
        made._read_packet.return_value.is_auth_switch_request.return_value = False
        made._read_packet.return_value.is_extra_auth_data.return_value = False
        made._request_authentication()
        return made.write_packet.call_args.args[0]

    def test_a_server_without_tls_gets_a_login(self):
        self.assertIn(b"harbour", self.login({}))

    def test_a_server_without_tls_gets_none_where_it_is_required(self):
        with self.assertRaisesRegex(Exception, "does not offer TLS"):
            self.login({"REQUIRE_TLS": True})


class AcceptCertificates(unittest.TestCase):
    def test_a_certificate_needs_no_more_than_what_identifies_the_server(self):
        context = requiring_tls().connections.Connection()._create_ssl_ctx({})
        self.assertFalse(context.verify_flags & ssl.VERIFY_X509_STRICT)
        self.assertEqual((context.verify_mode, context.check_hostname), (ssl.CERT_REQUIRED, True))


class Modules(unittest.TestCase):
    def test_the_modules_of_the_service_are_imported_in_their_order(self):
        names = []
        with mock.patch("importlib.import_module", names.append):
            start(None, {"MODULES": ["harbour_start", "harbour_more"]}, {})
        self.assertEqual(names, ["harbour_start", "harbour_more"])

    def imported(self, name):
        """Returns a module of a program that starts with a correction of harbour.crane."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        package = pathlib.Path(folder.name, "harbour")
        package.mkdir()
        for module in ("__init__", "crane", "quay"):
            package.joinpath(module + ".py").write_text("lifts = 1", encoding="utf-8")
        pathlib.Path(folder.name, "harbour_crane.py").write_text("def correct(crane):\n    crane.lifts += 1", encoding="utf-8")
        for patch in (
            mock.patch.object(sys, "path", [folder.name] + sys.path), mock.patch.object(sys, "meta_path", list(sys.meta_path)),
            mock.patch.dict(sys.modules),
        ):
            patch.start()
            self.addCleanup(patch.stop)
        start(None, {"CORRECTIONS": {"harbour.crane": "harbour_crane"}}, {})
        importlib.invalidate_caches()
        return importlib.import_module(name)

    def test_a_module_is_corrected_when_it_is_imported(self):
        self.assertEqual(self.imported("harbour.crane").lifts, 2)

    def test_other_modules_stay_as_they_are(self):
        self.assertEqual(self.imported("harbour.quay").lifts, 1)
        self.assertNotIn("harbour_crane", sys.modules)

    def test_a_module_that_does_not_exist_is_missed_as_always(self):
        with self.assertRaisesRegex(ModuleNotFoundError, "harbour.ship"):
            self.imported("harbour.ship")


if __name__ == "__main__":
    unittest.main()
