"""Tests of config_check.py, with options that fail as those of oslo.config do."""

import contextlib
import io
import pathlib
import re
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


def check(conf, library=None, register="harbour:register", directory="/nowhere"):
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
    modules = {"harbour": harbour, "oslo_config": oslo}
    source = FILE.read_text(encoding="utf-8")
    for name, value in {"PROJECT": "harbour", "REGISTER": register, "LISTS": ["harbour:options"]}.items():
        source, count = re.subn(r"(?m)^%s = .*$" % name, "%s = %r" % (name, value), source)
        assert count == 1, name
    with mock.patch.dict(sys.modules, modules), mock.patch.object(sys, "argv", ["config_check.py", directory]):
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

    def test_a_file_that_cannot_be_parsed_is_not_quoted(self):
        conf = Conf()
        conf.parsing = ConfigFileParseError("at keystone.conf:3, expected = or :: 'hunter2'")
        said = check(conf)
        self.assertIn("cannot be parsed", said)
        self.assertNotIn("hunter2", said)


if __name__ == "__main__":
    unittest.main()
