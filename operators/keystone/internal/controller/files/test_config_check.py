"""Tests of config_check.py, with options that fail as those of oslo.config do."""

import contextlib
import io
import runpy
import sys
import types
import unittest
from unittest import mock


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


class Conf(GroupAttr):
    parsing = None

    def __call__(self, *arguments, **names):
        if self.parsing:
            raise self.parsing


def check(conf):
    """Runs the script and returns what it says when it ends, 0 when all is well."""
    cfg = types.SimpleNamespace(
        ConfigFileValueError=ConfigFileValueError,
        ConfigFileParseError=ConfigFileParseError,
        TemplateSubstitutionError=TemplateSubstitutionError,
        NoSuchOptError=NoSuchOptError,
        ConfigOpts=types.SimpleNamespace(GroupAttr=GroupAttr),
    )
    keystone = types.ModuleType("keystone")
    keystone.conf = types.ModuleType("keystone.conf")
    keystone.conf.configure, keystone.conf.CONF = lambda: None, conf
    oslo = types.ModuleType("oslo_config")
    oslo.cfg = cfg
    modules = {"keystone": keystone, "keystone.conf": keystone.conf, "oslo_config": oslo}
    with mock.patch.dict(sys.modules, modules), mock.patch.object(sys, "argv", ["config_check.py", "/etc"]):
        with contextlib.redirect_stderr(io.StringIO()) as said:
            try:
                runpy.run_path("config_check.py")
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

    def test_a_file_that_cannot_be_parsed_is_not_quoted(self):
        conf = Conf()
        conf.parsing = ConfigFileParseError("at keystone.conf:3, expected = or :: 'hunter2'")
        said = check(conf)
        self.assertIn("cannot be parsed", said)
        self.assertNotIn("hunter2", said)


if __name__ == "__main__":
    unittest.main()
