"""Writes tempest.conf from the variables of the OpenStack client."""

import configparser
import os

import selection

REQUIRED = ("OS_AUTH_URL", "OS_USERNAME", "OS_PASSWORD")
# Tempest reads the options of its configuration from the environment, too: that way, the
# password is in no file.
PASSWORD_OPTION = "OS_AUTH__ADMIN_PASSWORD"


class Invalid(Exception):
    """A variable is missing or has an unusable value."""


def options(environ):
    """Returns the options of tempest.conf, by section, for a Keystone that forge has made."""
    missing = [name for name in REQUIRED if not environ.get(name)]
    if missing:
        raise Invalid("set the variables of the OpenStack client: %s is missing" % ", ".join(missing))
    user_domain = environ.get("OS_USER_DOMAIN_NAME") or "Default"
    return {
        "auth": {
            "admin_username": environ["OS_USERNAME"],
            "admin_domain_name": user_domain,
            "admin_user_domain_name": user_domain,
            # The administrator of the system prepares the tests. Keystone enforces the scope of
            # tokens, and that of a project may not do everything.
            "admin_system": "all",
        },
        "identity": {
            "uri_v3": environ["OS_AUTH_URL"],
            "region": environ.get("OS_REGION_NAME") or "RegionOne",
            "v3_endpoint_type": environ.get("OS_INTERFACE") or "public",
            **({"ca_certificates_file": environ["OS_CACERT"]} if environ.get("OS_CACERT") else {}),
        },
        "identity-feature-enabled": {
            "trust": "true",
            "access_rules": "true",
            # Runs the tests of policies, which are skipped otherwise.
            "enforce_scope": "true",
            # The API for identity providers, mappings and protocols is always there. There is
            # no identity provider to log in with.
            "federation": "true",
            "external_idp": "false",
            # Both need options in extraConfig that no default configuration has.
            "security_compliance": "false",
            "domain_specific_drivers": "false",
        },
        "enforce_scope": {"keystone": "true"},
        # In seconds: a busy machine may need more than Tempest's minute.
        "service-clients": {"http_timeout": "240"},
        "service_available": {
            **dict.fromkeys(("cinder", "horizon", "neutron", "nova", "swift"), "false"),
            "glance": "true" if environ.get("SELECTION") == selection.IMAGE else "false",
        },
        "image": {
            "region": environ.get("OS_REGION_NAME") or "RegionOne",
            "endpoint_type": environ.get("OS_INTERFACE") or "public",
        },
    }


def render(sections):
    """Returns the text of a configuration file. A dollar sign would begin the name of an option."""
    parser = configparser.RawConfigParser()
    for section, values in sections.items():
        parser[section] = {name: escape(value) for name, value in values.items()}
    lines = []
    for section in parser.sections():
        lines.append("[%s]" % section)
        lines += ["%s = %s" % item for item in parser[section].items()]
    return "\n".join(lines) + "\n"


def escape(value):
    """Returns the value as oslo.config has to see it so that it is read unchanged."""
    if "\\$" in value:
        raise Invalid("Tempest cannot read a value with a backslash before a dollar sign: set another password or name")
    return value.replace("$", "$$")


def prepare(environ, folder):
    """Writes tempest.conf to the folder, and makes Tempest read it and the password."""
    path = os.path.join(folder, "tempest.conf")
    text = render(options(environ))
    environ[PASSWORD_OPTION] = escape(environ["OS_PASSWORD"])
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    environ.update({
        "TEMPEST_CONFIG_DIR": folder,
        "TEMPEST_CONFIG": "tempest.conf",
        "TMPDIR": folder,
        # Logs of requests are neither kept nor shown: they have tokens in them.
        "OS_LOG_CAPTURE": "False",
        # In seconds. It ends a test that waits for something that never comes.
        "OS_TEST_TIMEOUT": "900",
    })
    return path
