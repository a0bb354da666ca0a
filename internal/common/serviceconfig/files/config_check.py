"""Reads every option that the image knows.

oslo.config converts a value only when something asks for it, so that a
malformed one would start, look healthy and fail every request that needs it.
A value may be a secret, and oslo's own words would quote it: nothing of an error
is shown but the option that it is about.
"""

import configparser
import glob
import importlib
import os
import socket
import sys
from importlib import metadata

from oslo_config import cfg

# The operator replaces these by what the service is called, by the function that registers
# its options, if it has one, and by those that list options, each as module:function.
PROJECT = ""
REGISTER = ""
LISTS = []
# And by options whose values are names of plugins, each as section, option and the group of
# entry points, and by options that list plugins, each of which may choose a variant in an
# option of its own name, with the beginning of the name of its group.
DRIVERS = []
VARIANTS = []

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


def written():
    """Returns on how many lines of a file each option stands, by section and name."""
    found = {}
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.conf"))):
        sections = {}
        cfg.ConfigParser(path, sections).parse()
        for section, options in sections.items():
            section = section if section == "DEFAULT" else section.lower()
            for name, values in options.items():
                found[section, name] = max(found.get((section, name), 0), len(values))
    return found


def takes_several(conf, section, name):
    try:
        group = None if section == "DEFAULT" else section
        return conf._get_opt_info(name, group)["opt"].multi
    except Exception:
        # Nothing reads an option that nobody has registered.
        return True


def plugins(group):
    try:
        points = metadata.entry_points(group=group)
    except TypeError:  # Python 3.9
        points = metadata.entry_points().get(group, ())
    return {point.name: point for point in points}


def check_plugin(section, option, group, name):
    """Names an option whose plugin the image lacks, or which lacks a library there."""
    known = plugins(group)
    if name not in known:
        names = ", ".join(sorted(known)) or "none"
        problems.append("[%s] %s: the image has no plugin of that name; it has %s" % (section, option, names))
        return
    try:
        known[name].load()
    except ModuleNotFoundError as error:
        # The service's own modules may expect to be loaded in another order.
        if (error.name or PROJECT).split(".")[0] != PROJECT:
            problems.append("[%s] %s: the image lacks %s, which the plugin needs" % (section, option, error.name))
    except Exception:
        # Some plugins need what only the running service has.
        pass


def check_plugins(conf, lines):
    """Checks what is written: the image has its own defaults."""
    for section, option, group in DRIVERS:
        if (section, option) in lines and section in conf and option in conf[section]:
            check_plugin(section, option, group, conf[section][option])
    for section, option, group in VARIANTS:
        for method in conf[section][option] if section in conf else ():
            if (section, method) in lines and method in conf[section]:
                check_plugin(section, method, group + method, conf[section][method])


def filters(path):
    """Returns the names of the filters in a paste file that users have declared."""
    paste = configparser.RawConfigParser(strict=False)
    paste.read(path, encoding="utf-8")
    declared = [name for name in paste.sections() if paste.has_option(name, "paste.filter_factory")]
    return [name.partition(":")[2] for name in declared]


def is_about_a_file(error):
    """Tells an error about a file from one about a connection, which may have such a class, too."""
    classes = (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError)
    return isinstance(error, classes) and error.filename is not None


def is_due_to_a_connection(error):
    """Reports whether an error comes from one about a connection.

    Network policies may forbid this pod what they allow the pods of the API.
    """
    while error is not None:
        if isinstance(error, OSError) and not is_about_a_file(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def check_filter(path, name):
    """Names a filter that the image lacks, or that refuses its options."""
    from paste.deploy import loadfilter

    # Where a network policy drops what a filter sends, it would wait for minutes.
    socket.setdefaulttimeout(5)
    try:
        loadfilter("config:" + path, name=name)(lambda environ, start_response: [])
    except Exception as error:
        # Other errors may be due to what only the running service has.
        if is_due_to_a_connection(error):
            return
        if isinstance(error, (ImportError, AttributeError)):
            problems.append("middleware %s: the image cannot load its filterFactory: %s" % (name, error))
        elif isinstance(error, (OSError, TypeError, ValueError)) or "Config" in type(error).__name__:
            problems.append("middleware %s: it refuses its config: %s" % (name, str(error) or type(error).__name__))


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
lines = written()
for (section, name), times in lines.items():
    if times > 1 and not takes_several(conf, section, name):
        problems.append("[%s] %s: it is set several times, but takes one value: keep one line" % (section, name))
if not problems:
    check_plugins(conf, lines)
    for path in glob.glob(os.path.join(sys.argv[1], "*-paste.ini")):
        for name in filters(path):
            check_filter(path, name)
sys.exit("\n".join(sorted(problems)) if problems else 0)
