"""Deletes the domain of an identity backend, with its projects and all roles of its users and groups.

Usage: identity_domain_removal.py JSON

It runs when no pod has the backend any more, and may run again at any time. It ends with 0 once
the domain is gone. If the domain is not empty, and the user has not agreed to the deletion of what
it has now, it says so in one line and ends with 3.
"""

import hashlib
import json
import sys

import sqlalchemy

import identity_domain
from identity_job import Unfit, execute
from keystone import exception
from keystone.common import provider_api, sql

PROVIDERS = provider_api.ProviderAPIs
# A property of the domain: what the user has agreed to. A deletion that was interrupted has removed
# a part of that already, and goes on without another question.
AGREED = "forge_deletion_agreed"

MAPPED = "SELECT entity_type, public_id FROM id_mapping WHERE domain_id = :id"
PROJECTS = "SELECT id FROM project WHERE domain_id = :id"
# Users and groups of the directory have a mapping. Those in the database may have been created since
# the backend was removed. All who have logged in, those of a provider among them, are in the table of users.
USERS = ("SELECT public_id FROM id_mapping WHERE domain_id = :id AND entity_type = 'user'"
         " UNION SELECT id FROM `user` WHERE domain_id = :id")
GROUPS = ("SELECT public_id FROM id_mapping WHERE domain_id = :id AND entity_type = 'group'"
          " UNION SELECT id FROM `group` WHERE domain_id = :id")
COLUMNS = "SELECT type, actor_id, target_id, role_id, inherited FROM "
ASSIGNED = "SELECT actor_id FROM assignment UNION SELECT actor_id FROM system_assignment"

# What is deleted, and would be missed. A user of the directory without a role loses nothing.
CONTENT = {
    "users with roles": "SELECT actors.public_id FROM (%s) AS actors WHERE actors.public_id IN (%s)" % (USERS, ASSIGNED),
    "groups with roles": "SELECT actors.public_id FROM (%s) AS actors WHERE actors.public_id IN (%s)" % (GROUPS, ASSIGNED),
    "users in the database": "SELECT user_id FROM local_user WHERE domain_id = :id",
    "groups in the database": "SELECT id FROM `group` WHERE domain_id = :id",
    "projects": PROJECTS,
    "role assignments": (
        COLUMNS + "assignment WHERE actor_id IN (%s) OR actor_id IN (%s) OR target_id = :id OR target_id IN (%s)"
        " UNION ALL " + COLUMNS + "system_assignment WHERE actor_id IN (%s) OR actor_id IN (%s)"
    ) % (USERS, GROUPS, PROJECTS, USERS, GROUPS),
}


def read(query, domain):
    with sql.session_for_read() as session:
        return [tuple(row) for row in session.execute(sqlalchemy.text(query), {"id": domain}).fetchall()]


def content(domain):
    """Returns how many of each there are, without those of which there are none, and what identifies all of them."""
    found = {what: sorted([str(value) for value in row] for row in read(query, domain)) for what, query in CONTENT.items()}
    identity = hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()[:12]
    return {what: len(rows) for what, rows in found.items() if rows}, identity


def ask(domain, wanted):
    """Returns what the user has agreed to. An empty domain needs no agreement."""
    numbers, identity = content(domain["id"])
    if numbers and wanted["agreed"] != identity:
        raise Unfit(
            "with the domain %s these would be deleted: %s. To agree, annotate the backend with %s=%s; to keep the domain, set"
            " spec.domain.deletionPolicy to Retain" % (
                domain["name"], ", ".join("%s: %d" % number for number in numbers.items()), wanted["annotation"], identity)
        )
    return identity


def delete(domain):
    """Deletes the domain, which is disabled. Keystone itself forgets neither groups of a directory nor users who have never
    logged in.
    """
    remove = {"user": PROVIDERS.assignment_api.delete_user_assignments, "group": PROVIDERS.assignment_api.delete_group_assignments}
    for entity, actor in read(MAPPED, domain):
        remove[entity](actor)
    PROVIDERS.id_mapping_api.purge_mappings({"domain_id": domain})
    # Keystone deletes the identity providers of the domain, but not the mapping, which is named after that.
    PROVIDERS.resource_api.delete_domain(domain)


def forget_mapping(domain):
    try:
        PROVIDERS.federation_api.delete_mapping(domain)
    except exception.MappingNotFound:
        pass


def run(wanted):
    identity_domain.configure()
    try:
        domain = PROVIDERS.resource_api.get_domain(wanted["id"])
    except exception.DomainNotFound:
        forget_mapping(wanted["id"])
        return
    try:
        if domain["enabled"] or not domain.get(AGREED):
            agreed = ask(domain, wanted)
            PROVIDERS.resource_api.update_domain(domain["id"], {"enabled": False, AGREED: agreed})
        delete(domain["id"])
        forget_mapping(domain["id"])
    except (exception.ResourceUpdateForbidden, exception.ResourceDeleteForbidden):
        raise Unfit(
            "the domain %s or a project in it is immutable: remove that option with the OpenStack client" % domain["name"]
        )


if __name__ == "__main__":
    sys.exit(execute(run, "deleting the domain"))
