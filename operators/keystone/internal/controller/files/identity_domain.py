"""Creates or finds the domain of an identity backend, and logs in to its directory.

Usage: identity_domain.py JSON

It may run again at any time. It ends with 0 and the ID of the domain in the termination
message, or with one line that says what is wrong. The exit code is 3 if no retry can change
that. Nothing that a directory says is shown.
"""

import os
import sys

import ldap
import sqlalchemy
from oslo_config import cfg

import keystone.conf
from identity_job import Unfit, Unready, execute
from keystone import exception
from keystone.common import provider_api, sql
from keystone.identity.backends import ldap as backend
from keystone.server import backends

CONF = keystone.conf.CONF
PROVIDERS = provider_api.ProviderAPIs

# What Keystone itself stores in a domain. A backend would hide it.
STORED = {
    "users": "SELECT COUNT(*) FROM local_user WHERE domain_id = :id",
    "groups": "SELECT COUNT(*) FROM `group` WHERE domain_id = :id",
}


def configure():
    keystone.conf.configure()
    sql.initialize()
    keystone.conf.set_default_for_default_log_levels()
    CONF(args=["--config-dir", os.path.dirname(os.path.abspath(__file__))], project="keystone", default_config_files=[])
    backends.load_backends()


def domain_of(wanted):
    """Returns the ID of the domain, which is created if it is the operator's."""
    try:
        found = PROVIDERS.resource_api.get_domain_by_name(wanted["name"])
    except exception.DomainNotFound:
        if wanted["adopt"]:
            raise Unfit("there is no domain %s to adopt: create it, or use another backend with the mode Manage" % wanted["name"])
        return create(wanted)
    if found["id"] == CONF.identity.default_domain_id:
        raise Unfit("%s is the default domain, whose users stay in the database: name another one" % wanted["name"])
    if not wanted["adopt"] and found["id"] != wanted["id"]:
        raise Unfit(
            "the domain %s exists, and this backend has not created it: use another backend with the mode Adopt" % wanted["name"]
        )
    return found["id"]


def create(wanted):
    domain = {"id": wanted["id"], "name": wanted["name"], "description": wanted["description"], "enabled": True}
    try:
        return PROVIDERS.resource_api.create_domain(wanted["id"], domain)["id"]
    except exception.Conflict:
        raise Unfit("the domain that this backend has created, %s, has another name now: rename it to %s" % (wanted["id"], wanted["name"]))


def refuse_stored(domain, execute):
    """Refuses a domain with users or groups that would be hidden."""
    for what, query in STORED.items():
        count = execute(query, domain)
        if count:
            raise Unfit("the domain has %d %s in the database, which would disappear: delete them, or use another domain" % (count, what))


def in_database(query, domain):
    with sql.session_for_read() as session:
        return session.execute(sqlalchemy.text(query), {"id": domain}).scalar()


def options_of(wanted):
    """Returns the options of the domain, as Keystone reads them. Each directory has its own certificates here."""
    options = cfg.ConfigOpts()
    keystone.conf.configure(conf=options)
    options(args=[], project="keystone", default_config_files=[wanted["file"]], default_config_dirs=[])
    if options.ldap.tls_cacertfile:
        options.set_override("tls_cacertfile", wanted["certificates"], "ldap")
    options.set_override("use_pool", False, "ldap")
    return options


def log_in(options):
    """Logs in to the directory, and looks for the trees."""
    urls, tree = options.ldap.url, None
    try:
        with backend.Identity(options).user.get_connection() as connection:
            for field, tree in (("users", options.ldap.user_tree_dn), ("groups", options.ldap.group_tree_dn)):
                if not connection.search_s(tree, ldap.SCOPE_BASE, "(objectClass=*)", ["objectClass"]):
                    raise Unfit("the account may not read %s, which is spec.ldap.%s.tree" % (tree, field))
    except (exception.LDAPInvalidCredentialsError, ldap.INVALID_CREDENTIALS):
        raise Unfit("the directory refuses the account of spec.ldap.bindCredentialsSecretRef: correct its name or its password")
    except (ldap.NO_SUCH_OBJECT, ldap.INVALID_DN_SYNTAX):
        if tree is None:
            raise Unfit("the account of spec.ldap.bindCredentialsSecretRef is not the name of an entry (DN): correct it")
        raise Unfit("the directory has no entry %s, which is spec.ldap.%s.tree" % (tree, field))
    except (exception.LDAPServerConnectionError, ldap.SERVER_DOWN, ldap.CONNECT_ERROR, ldap.TIMEOUT):
        raise Unready(
            "no connection to %s: look at the directory, at its certificate, and at the network policies on the way" % urls
        )
    except ldap.LDAPError as error:
        raise Unready("the directory at %s answers %s" % (urls, type(error).__name__))


def run(wanted):
    configure()
    domain = domain_of(wanted)
    refuse_stored(domain, in_database)
    log_in(options_of(wanted))
    return domain


if __name__ == "__main__":
    sys.exit(execute(run, "verifying the domain"))
