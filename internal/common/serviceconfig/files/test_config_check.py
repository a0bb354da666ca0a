"""Tests of config_check.py, with options that fail as those of oslo.config do."""

import contextlib
import io
import pathlib
import re
import socket
import ssl
import sys
import tempfile
import types
import unittest
from unittest import mock

FILE = pathlib.Path(__file__).with_name("config_check.py")


class ConfigFileValueError(ValueError):
    pass


class ConfigFileParseError(Exception):
    pass


class TemplateSubstitutionError(Exception):
    pass


class NoSuchOptError(AttributeError):
    pass


class GroupAttr(dict):
    """Raises what an option holds in place of its value."""

    def __getitem__(self, name):
        value = super().__getitem__(name)
        if isinstance(value, Exception):
            raise value
        return value


class Parser:
    """Reads a file as oslo.config does: each option has a list of values."""

    def __init__(self, path, sections):
        self.path, self.sections = path, sections

    def parse(self):
        section = None
        for line in pathlib.Path(self.path).read_text(encoding="utf-8").splitlines():
            if line.startswith("["):
                section = self.sections.setdefault(line[1:-1], {})
            elif line:
                name, _, value = line.partition(" = ")
                section.setdefault(name, []).append(value)


class Conf(GroupAttr):
    parsing = None
    several = ()

    def _get_opt_info(self, name, group=None):
        if name not in self and name not in self.get(group, ()):
            raise NoSuchOptError(name)
        return {"opt": types.SimpleNamespace(multi=(group, name) in self.several)}

    def __call__(self, *arguments, **names):
        self.called = names
        if self.parsing:
            raise self.parsing

    def register_opts(self, options, group):
        self[group] = GroupAttr(options)


def plain():
    return Conf(auth=GroupAttr(methods=[]))


class Point:
    """An entry point of a plugin."""

    def __init__(self, name, error=None):
        self.name, self.error = name, error

    def load(self):
        if self.error:
            raise self.error


def check(conf, library=None, register="harbour:register", directory="/nowhere", points=None, loadfilter=None):
    """Runs the script and returns what it says when it ends, 0 when all is well."""
    cfg = types.SimpleNamespace(
        ConfigFileValueError=ConfigFileValueError,
        ConfigFileParseError=ConfigFileParseError,
        TemplateSubstitutionError=TemplateSubstitutionError,
        NoSuchOptError=NoSuchOptError,
        ConfigOpts=types.SimpleNamespace(GroupAttr=GroupAttr),
        CONF=conf,
        ConfigParser=Parser,
    )
    harbour = types.ModuleType("harbour")
    harbour.register, harbour.options = lambda conf: conf.update(own=True), lambda: [("library", library or {})]
    oslo = types.ModuleType("oslo_config")
    oslo.cfg = cfg
    deploy = types.ModuleType("paste.deploy")
    deploy.loadfilter = loadfilter
    modules = {"harbour": harbour, "oslo_config": oslo, "paste": types.ModuleType("paste"), "paste.deploy": deploy}
    source = FILE.read_text(encoding="utf-8")
    for name, value in {"PROJECT": "harbour", "REGISTER": register, "LISTS": ["harbour:options"],
                        "DRIVERS": [["identity", "driver", "harbour.identity"]],
                        "VARIANTS": [["auth", "methods", "harbour.auth."]]}.items():
        source, count = re.subn(r"(?m)^%s = .*$" % name, "%s = %r" % (name, value), source)
        assert count == 1, name
    groups = {"harbour.identity": [], "harbour.auth.password": [], **(points or {})}
    sys_modules = mock.patch.dict(sys.modules, modules)
    entry_points = mock.patch("importlib.metadata.entry_points", lambda group: groups[group])
    with sys_modules, entry_points, mock.patch.object(sys, "argv", ["config_check.py", directory]):
        with contextlib.redirect_stderr(io.StringIO()) as said:
            try:
                exec(compile(source, FILE, "exec"), {"__name__": "__main__"})
            except SystemExit as end:
                return end.code
            raise AssertionError("the script has not said how it ended: %s" % said.getvalue())


class Test(unittest.TestCase):
    def test_an_option_that_is_also_an_argument_is_checked_too(self):
        # oslo.config prints the error of such an option and ends the program with 0.
        conf = Conf(debug=True)
        conf.parsing = SystemExit(0)
        self.assertEqual(check(conf), "its value does not fit the type of the option")

    def test_options_that_can_be_read_are_fine(self):
        self.assertEqual(check(Conf(debug=True, ldap=GroupAttr(password="hunter2"))), 0)

    def test_the_options_of_the_service_and_of_its_libraries_are_read(self):
        conf = Conf()
        said = check(conf, library={"url": ConfigFileValueError("hunter2")})
        self.assertIn("[library] url:", said)
        self.assertTrue(conf["own"])
        self.assertEqual(conf.called["project"], "harbour")

    def test_a_service_may_only_list_its_options(self):
        conf = Conf()
        said = check(conf, library={"url": ConfigFileValueError("hunter2")}, register="")
        self.assertIn("[library] url:", said)
        self.assertNotIn("own", conf)

    def test_every_problem_is_named_and_no_value_is_shown(self):
        conf = Conf(
            debug=ConfigFileValueError("hunter2"),
            ldap=GroupAttr(
                page_size=ConfigFileValueError("hunter2"),
                password=NoSuchOptError("hunter2"),
                user=TemplateSubstitutionError("hunter2"),
                url=KeyError("hunter2"),
            ),
        )
        said = check(conf)
        for part in ["[DEFAULT] debug:", "[ldap] page_size:", "[ldap] password: ", "[ldap] user: ", "[ldap] url: "]:
            self.assertIn(part, said)
        self.assertIn("$$", said)
        self.assertNotIn("hunter2", said)

    def test_an_option_that_takes_one_value_is_named_when_it_stands_on_several_lines(self):
        conf = Conf(debug=True, federation=GroupAttr(trusted_dashboard=["a", "b"], issuer="hunter2"))
        conf.several = {("federation", "trusted_dashboard")}
        with tempfile.TemporaryDirectory() as directory:
            pathlib.Path(directory, "harbour.conf").write_text("[DEFAULT]\ndebug = true\n", encoding="utf-8")
            pathlib.Path(directory, "secret.conf").write_text(
                "[DEFAULT]\ndebug = true\ndebug = false\n[Federation]\nissuer = hunter1\nissuer = hunter2\n"
                "trusted_dashboard = a\ntrusted_dashboard = b\n[unknown]\nx = 1\nx = 2\n",
                encoding="utf-8",
            )
            said = check(conf, directory=directory)
        once = ": it is set several times, but takes one value: keep one line"
        self.assertEqual(said, "[DEFAULT] debug%s\n[federation] issuer%s" % (once, once))

    def with_files(self, files, conf, **arguments):
        with tempfile.TemporaryDirectory() as directory:
            for name, text in files.items():
                pathlib.Path(directory, name).write_text(text, encoding="utf-8")
            return check(conf, directory=directory, **arguments)

    def test_a_plugin_that_the_image_lacks_is_named_with_those_that_it_has(self):
        conf = Conf(
            identity=GroupAttr(driver="ldap"), auth=GroupAttr(methods=["password", "token"], password="rxt", token=None)
        )
        text = "[identity]\ndriver = ldap\n[auth]\npassword = rxt\n"
        points = {
            "harbour.identity": [Point("ldap", ModuleNotFoundError("No module", name="ldap"))],
            "harbour.auth.password": [Point("default"), Point("other")],
        }
        self.assertEqual(
            self.with_files({"harbour.conf": text}, conf, points=points),
            "[auth] password: the image has no plugin of that name; it has default, other\n"
            "[identity] driver: the image lacks ldap, which the plugin needs",
        )

    def test_plugins_that_are_there_and_those_that_nobody_has_named_are_fine(self):
        conf = Conf(identity=GroupAttr(driver="sql"), auth=GroupAttr(methods=["password", "token"], password=None))
        self.assertEqual(self.with_files({}, conf), 0)
        points = {"harbour.identity": [Point("sql", ModuleNotFoundError("No module", name="harbour.later"))]}
        self.assertEqual(self.with_files({"harbour.conf": "[identity]\ndriver = sql\n"}, conf, points=points), 0)
        points = {"harbour.identity": [Point("sql", RuntimeError("not yet"))]}
        self.assertEqual(self.with_files({"harbour.conf": "[identity]\ndriver = sql\n"}, conf, points=points), 0)

    def test_a_filter_that_does_not_start_is_named(self):
        class AuditConfigError(Exception):
            pass

        unreachable = AuditConfigError("no answer")
        unreachable.__cause__ = TimeoutError("timed out")
        self.addCleanup(socket.setdefaulttimeout, socket.getdefaulttimeout())
        paste = "[filter:cors]\nuse = egg:oslo.middleware#cors\n[filter:audit]\npaste.filter_factory = audit:make\n"
        for error, want in [
            (ModuleNotFoundError("No module named 'audit'"), "cannot load its filterFactory: No module named 'audit'"),
            (AttributeError("no make"), "cannot load its filterFactory: no make"),
            (AuditConfigError("no such file: /map"), "it refuses its config: no such file: /map"),
            (FileNotFoundError(2, "No such file", "/map"), "it refuses its config: [Errno 2] No such file: '/map'"),
            (RuntimeError("the database does not answer"), ""),
            (ConnectionRefusedError(111, "Connection refused"), ""),
            (TimeoutError("timed out"), ""),
            (socket.gaierror(-2, "Name or service not known"), ""),
            (OSError(113, "No route to host"), ""),
            (FileNotFoundError(2, "No such socket"), ""),
            (ssl.SSLCertVerificationError("unable to get local issuer certificate"), ""),
            (unreachable, ""),
            (None, ""),
        ]:
            started = []

            def loadfilter(path, name):
                started.append(name)

                def build(application):
                    if error:
                        raise error
                    return application

                return build

            said = self.with_files({"api-paste.ini": paste}, plain(), loadfilter=loadfilter)
            self.assertEqual(started, ["audit"])
            if want:
                self.assertIn("middleware audit: ", said)
                self.assertIn(want, said)
            else:
                self.assertEqual(said, 0)

    def test_a_file_that_cannot_be_parsed_is_not_quoted(self):
        conf = Conf()
        conf.parsing = ConfigFileParseError("at keystone.conf:3, expected = or :: 'hunter2'")
        said = check(conf)
        self.assertIn("cannot be parsed", said)
        self.assertNotIn("hunter2", said)


if __name__ == "__main__":
    unittest.main()
