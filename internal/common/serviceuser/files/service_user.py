"""Logs in as the service user and validates a token, as the service does for its clients.

It reads the options that the service reads. What fails is told in one line, without a
value of the configuration and without anything that Keystone has said.
"""

import sys
import time

from keystoneauth1 import exceptions, loading
from oslo_config import cfg

SECTION = "keystone_authtoken"
# A Keystone that is being replaced, or a name that is not known yet, is no fault of the user.
PATIENCE = 60
# With none of them Keystone lets the user validate its own tokens only.
ROLES = {"service", "admin"}
REFUSED = ("Keystone refuses the user: its name, its password, its project or a domain is wrong, "
           "or its application credential is wrong or has expired")
# Keystone validates no token with access rules for a client that does not know them.
RULES = {"OpenStack-Identity-Access-Rules": "1.0"}
NO_ROLE = "Keystone lets the user validate no tokens of others: give it the role service on its project"


def session_of(folder):
    conf = cfg.ConfigOpts()
    loading.register_auth_conf_options(conf, SECTION)
    loading.register_session_conf_options(conf, SECTION)
    conf([], default_config_files=[], default_config_dirs=[folder])
    conf.register_opts([cfg.StrOpt("region_name")], group=SECTION)
    auth = loading.load_auth_from_conf_options(conf, SECTION)
    return loading.load_session_from_conf_options(conf, SECTION, auth=auth, timeout=10), conf[SECTION].region_name


def validate(session, region):
    """Validates the user's own token as if it were that of a client."""
    token = session.get_token()
    session.get("/auth/tokens", headers={"X-Subject-Token": token, **RULES}, endpoint_filter={
        "service_type": "identity", "interface": "internal", "region_name": region, "version": (3, 0)})
    return set(session.auth.get_access(session).role_names)


def problem(session, region):
    """Returns what is wrong, and whether it may pass."""
    try:
        roles = validate(session, region)
    except (exceptions.Unauthorized, exceptions.NotFound):
        return REFUSED, False
    except exceptions.Forbidden:
        return NO_ROLE, False
    except exceptions.EndpointNotFound:
        return "the catalog has no internal endpoint of the Identity service in the region", True
    except Exception as error:
        return "Keystone does not answer (%s)" % type(error).__name__, True
    return (None if roles & ROLES else NO_ROLE), False


def main():
    session, region = session_of(sys.argv[1])
    end = time.monotonic() + PATIENCE
    while True:
        found, passing = problem(session, region)
        if not found or not passing or time.monotonic() > end:
            sys.exit(found)
        time.sleep(2)


if __name__ == "__main__":
    main()
