"""Reads every option that the image knows.

oslo.config converts a value only when something asks for it, so that a
malformed one would start, look healthy and fail every request that needs it.
"""

import sys

import keystone.conf
from oslo_config import cfg

problems = []


def read(section, options, name):
    try:
        return options[name]
    except cfg.ConfigFileValueError:
        # oslo's own words would quote the value.
        problems.append("[%s] %s: the value does not fit the type of the option" % (section, name))
    except cfg.TemplateSubstitutionError as error:
        problems.append("[%s] %s: %s" % (section, name, error))


keystone.conf.configure()
conf = keystone.conf.CONF
conf([], project="keystone", default_config_files=[], default_config_dirs=[sys.argv[1]])
for name in list(conf):
    value = read("DEFAULT", conf, name)
    if isinstance(value, cfg.ConfigOpts.GroupAttr):
        for option in list(value):
            read(name, value, option)
sys.exit("\n".join(sorted(problems)) if problems else 0)
