"""Creates what logins at an OpenID Connect or SAML provider need: domain, identity provider, mapping, protocol, groups, and roles.

Usage: identity_provider.py JSON

It may run again at any time, and repairs what differs. It ends with 0 and the ID of the domain in the
termination message, or with one line that says what is wrong. The exit code is 3 if no retry can change
that. Nothing that a provider says is shown, but for its issuer.
"""

import json
import ssl
import sys
import urllib.request

import identity_domain
from identity_job import Unfit, Unready, execute
from keystone import exception
from keystone.common import provider_api

PROVIDERS = provider_api.ProviderAPIs
SECONDS = 10
MOST_BYTES = 1 << 20
# Properties of groups: that the operator has created the group, and the roles that it has assigned. Those of
# others stay.
CREATED = "forge_created"
ASSIGNED = "forge_assigned"


def check_issuer(wanted):
    """Compares the issuer with the document of the provider. Tokens have exactly what is there."""
    if not wanted["document"]:
        return
    try:
        context = ssl.create_default_context(cafile=wanted["certificates"] or None)
        with urllib.request.urlopen(wanted["document"], timeout=SECONDS, context=context) as answer:
            issuer = json.loads(answer.read(MOST_BYTES))["issuer"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Unready(
            "no document of the provider at %s (%s): look at the provider, at its certificate, and at the network policies on the way"
            % (wanted["document"], type(error).__name__)
        )
    if issuer != wanted["issuer"]:
        raise Unfit("the provider says that its issuer is %.300r: set spec.oidc.issuer to exactly that" % issuer)


def ensure(get, create, update, missing, wanted):
    """Creates something, or changes what differs."""
    try:
        found = get()
    except missing:
        create(dict(wanted))
        return
    if any(found.get(key) != value for key, value in wanted.items()):
        update(dict(wanted))


def ensure_identity_provider(name, domain, issuer, block):
    api = PROVIDERS.federation_api

    def get():
        found = api.get_idp(name)
        if found["domain_id"] != domain:
            raise Unfit("the identity provider %s exists, in another domain: set spec.%s.identityProvider to another name" % (name, block))
        return found

    try:
        ensure(get, lambda new: api.create_idp(name, {"domain_id": domain, **new}),
               lambda new: api.update_idp(name, new), exception.IdentityProviderNotFound, {"enabled": True, "remote_ids": [issuer]})
    except exception.Conflict:
        raise Unfit("another identity provider has the issuer %s: one is enough for a Keystone" % issuer)


def ensure_protocol(name, protocol, domain, rules):
    """The mapping is named after the domain, so that it cannot be that of something else."""
    api = PROVIDERS.federation_api
    ensure(lambda: api.get_mapping(domain), lambda new: api.create_mapping(domain, {"schema_version": "1.0", **new}),
           lambda new: api.update_mapping(domain, new), exception.MappingNotFound, {"rules": rules})
    ensure(lambda: api.get_protocol(name, protocol), lambda new: api.create_protocol(name, protocol, new),
           lambda new: api.update_protocol(name, protocol, new), exception.FederatedProtocolNotFound, {"mapping_id": domain})


def roles_of(group, domain):
    """Returns the roles that the group is to have, as the ID of the role and a project or a domain."""
    roles = {role["name"]: role["id"] for role in PROVIDERS.role_api.list_roles() if role.get("domain_id") is None}
    found = []
    for wanted in group.get("roleAssignments") or []:
        if wanted["role"] not in roles:
            raise Unready("there is no role %s, which the group %s is to have: create it" % (wanted["role"], group["name"]))
        where = domain
        if wanted.get("domain"):
            try:
                where = PROVIDERS.resource_api.get_domain_by_name(wanted["domain"])["id"]
            except exception.DomainNotFound:
                raise Unready("there is no domain %s, in which the group %s is to have a role: create it" % (
                    wanted["domain"], group["name"]))
        target = {"domain_id": where}
        if wanted.get("project"):
            try:
                target = {"project_id": PROVIDERS.resource_api.get_project_by_name(wanted["project"], where)["id"]}
            except exception.ProjectNotFound:
                raise Unready("there is no project %s in the domain of a role of the group %s: create it" % (
                    wanted["project"], group["name"]))
        found.append({"role_id": roles[wanted["role"]], **target})
    return found


def assign(group, wanted):
    """Gives the group its roles, and takes away those that the operator has assigned earlier. The group says which
    they are before anything changes, so that an interrupted run loses none.
    """
    before = group.get(ASSIGNED) or []
    # A role that somebody else has assigned stays when the spec does not name it any more.
    mine = [entry for entry in wanted if entry in before or not is_assigned(group, entry)]
    both = before + [entry for entry in mine if entry not in before]
    if both != before:
        PROVIDERS.identity_api.update_group(group["id"], {ASSIGNED: both})
    for entry in wanted:
        if not is_assigned(group, entry):
            PROVIDERS.assignment_api.create_grant(group_id=group["id"], **entry)
    for entry in before:
        if entry not in wanted:
            withdraw(group, entry)
    if mine != both:
        PROVIDERS.identity_api.update_group(group["id"], {ASSIGNED: mine})


def is_assigned(group, entry):
    target = {key: value for key, value in entry.items() if key != "role_id"}
    try:
        return any(role["id"] == entry["role_id"] for role in PROVIDERS.assignment_api.list_grants(group_id=group["id"], **target))
    except exception.NotFound:
        return False


def withdraw(group, entry):
    try:
        PROVIDERS.assignment_api.delete_grant(group_id=group["id"], **entry)
    except exception.NotFound:
        pass


def ensure_groups(groups, domain):
    """Creates the groups. Of those that the spec does not have any more, it deletes what it has created."""
    wanted = {group["name"]: roles_of(group, domain) for group in groups}
    found = {group["name"].lower(): group for group in PROVIDERS.identity_api.list_groups(domain_scope=domain)}
    for group in groups:
        live = found.pop(group["name"].lower(), None)
        if live is None:
            live = PROVIDERS.identity_api.create_group({
                "name": group["name"], "domain_id": domain, "description": group.get("description", ""), CREATED: True,
            })
        assign(live, wanted[group["name"]])
    for group in found.values():
        if group.get(CREATED):
            PROVIDERS.identity_api.delete_group(group["id"])
        else:
            assign(group, [])


def run(wanted):
    check_issuer(wanted)
    with open(wanted["declared"], encoding="utf-8") as file:
        declared = json.load(file)
    identity_domain.configure()
    domain = identity_domain.domain_of(wanted)
    ensure_identity_provider(wanted["identity_provider"], domain, wanted["issuer"], wanted["block"])
    ensure_protocol(wanted["identity_provider"], wanted["protocol"], domain, declared["rules"])
    ensure_groups(declared["groups"] or [], domain)
    return domain


if __name__ == "__main__":
    sys.exit(execute(run, "setting up the identity provider"))
