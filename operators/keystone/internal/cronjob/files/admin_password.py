"""Makes a new password for the administrator and stages it.

It is tried against Keystone's own rule before anything else gets it: a password that Keystone
refuses would replace the one that works. It is never printed and never an argument of a program.
"""

import os
import re
import secrets
import string
import sys

import stage

CONFIG = "/etc/keystone/keystone.conf.d/"
# The first ones need no quotes in a shell, in YAML or in a URL. The others are only used where
# the rule asks for one of them.
SYMBOLS = ("-_.~", "-_.~@%+=:,/", "-_.~@%+=:,/!#$^&*?()")
TRIES = 200


def rule(directory=CONFIG):
    """The regular expression that Keystone wants passwords to match, None for any."""
    from oslo_config import cfg
    conf = cfg.ConfigOpts()
    conf.register_opts([cfg.StrOpt("password_regex")], group="security_compliance")
    conf(["--config-dir", directory], project="keystone")
    return conf.security_compliance.password_regex


def candidate(length, symbols):
    """A password that begins with a letter and has characters of every kind."""
    kinds = (string.ascii_uppercase, string.ascii_lowercase, string.digits, symbols)
    while True:
        password = secrets.choice(string.ascii_letters)
        password += "".join(secrets.choice("".join(kinds)) for _ in range(length - 1))
        if all(set(password) & set(kind) for kind in kinds):
            return password


def generate(size, pattern):
    """A password of that many random bytes or, if the pattern wants a shorter one, of that many
    characters. None if the pattern accepts none."""
    for symbols in SYMBOLS:
        for length in (-(-4 * size // 3), size):
            for _ in range(TRIES):
                password = candidate(length, symbols)
                if not pattern or re.match(pattern, password):
                    return password
    return None


def main():
    try:
        password = generate(int(os.environ["PASSWORD_LENGTH"]), rule())
    except re.error as error:
        sys.exit("[security_compliance] password_regex is no regular expression: %s" % error)
    if password is None:
        sys.exit("[security_compliance] password_regex accepts none of the passwords that were generated, with letters, "
                 "digits and symbols; relax it, or change passwordRotation.passwordLength")
    stage.stage({"password": password.encode()})


if __name__ == "__main__":
    main()
