"""Reads every option that the image knows.

oslo.config converts a value only when something asks for it, so that a
malformed one would start, look healthy and fail every request that needs it.
A value may be a secret, and oslo's own words would quote it: nothing of an error
is shown but the option that it is about.
"""

import glob
import importlib
import os
import sys

from oslo_config import cfg

# The operator replaces these by what the service is called, by the function that registers
# its options, if it has one, and by those that list options, each as module:function.
PROJECT = ""
REGISTER = ""
LISTS = []

problems = []


def function(name):
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def read(section, options, name):
    try:
        return options[name]
    except cfg.ConfigFileValueError:
        complaint = "the value does not fit the type of the option"
    except (cfg.NoSuchOptError, cfg.TemplateSubstitutionError):
        complaint = "what follows a dollar sign is no option; write $$ for the sign itself"
    except Exception as error:
        complaint = "the value cannot be read (%s)" % type(error).__name__
    problems.append("[%s] %s: %s" % (section, name, complaint))


def written_several_times():
    """Returns the options that stand several times in a file, as pairs of section and name."""
    found = set()
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.conf"))):
        sections = {}
        cfg.ConfigParser(path, sections).parse()
        for section, options in sections.items():
            section = section if section == "DEFAULT" else section.lower()
            found.update((section, name) for name, values in options.items() if len(values) > 1)
    return found


def takes_several(conf, section, name):
    try:
        group = None if section == "DEFAULT" else section
        return conf._get_opt_info(name, group)["opt"].multi
    except Exception:
        # Nothing reads an option that nobody has registered.
        return True


conf = cfg.CONF
if REGISTER:
    function(REGISTER)(conf)
for options_of in LISTS:
    for group, options in function(options_of)():
        conf.register_opts(options, group=group)
try:
    conf([], project=PROJECT, default_config_files=[], default_config_dirs=[sys.argv[1]])
except cfg.ConfigFileParseError:
    sys.exit("a file of the configuration cannot be parsed")
except SystemExit:
    # Options that are also arguments are converted here. oslo.config has named this one, and
    # ends without an error (_Namespace._parse_cli_opts_from_config_file).
    sys.exit("its value does not fit the type of the option")
for name in list(conf):
    value = read("DEFAULT", conf, name)
    if isinstance(value, cfg.ConfigOpts.GroupAttr):
        for option in list(value):
            read(name, value, option)
for section, name in sorted(written_several_times()):
    if not takes_several(conf, section, name):
        problems.append("[%s] %s: it is set several times, but takes one value: keep one line" % (section, name))
sys.exit("\n".join(sorted(problems)) if problems else 0)
