"""Real tokens for the users that Placement's tests pretend to be."""

import secrets
import uuid

from api import API

# A user without rights: each token needs a role.
NO_RIGHTS = "forge-tests-no-rights"

# The administrator of the tests may do everything. Placement lets only services reshape
# allocations.
ADMIN = "admin,service"


class Identity:
    """Creates users, roles and projects in Keystone on demand, and logs in as them."""

    def __init__(self, environ):
        self.url = environ["OS_AUTH_URL"]
        domain = {"name": environ.get("OS_USER_DOMAIN_NAME") or "Default"}
        self.login = {"name": environ["OS_USERNAME"], "domain": domain, "password": environ["OS_PASSWORD"]}
        project = {
            "name": environ.get("OS_PROJECT_NAME") or "admin",
            "domain": {"name": environ.get("OS_PROJECT_DOMAIN_NAME") or "Default"},
        }
        self.domain = domain
        self.admin_token = self.issue(self.login, {"project": project})
        # On 2022.2, only the administrator of the system creates projects and users.
        self.system = API(self.url, {"X-Auth-Token": self.issue(self.login, {"system": {"all": True}})})
        self.tokens, self.projects, self.roles = {}, {}, {}

    def issue(self, user, scope):
        """Returns a new token."""
        identity = {"methods": ["password"], "password": {"user": user}}
        headers, _ = API(self.url).request("POST", "/auth/tokens", {"auth": {"identity": identity, "scope": scope}})
        return headers["X-Subject-Token"]

    def project(self, key):
        """Returns the ID of the project that stands for the key."""
        if key not in self.projects:
            body = {"project": {"name": "forge-tests-" + uuid.uuid4().hex, "domain_id": "default"}}
            self.projects[key] = self.system.request("POST", "/projects", body)[1]["project"]["id"]
        return self.projects[key]

    def role(self, name):
        """Returns the ID of a role."""
        if name not in self.roles:
            found = self.system.get("/roles?name=" + name)["roles"]
            found = found or [self.system.request("POST", "/roles", {"role": {"name": name}})[1]["role"]]
            self.roles[name] = found[0]["id"]
        return self.roles[name]

    def token(self, roles, project):
        """Returns a token with the roles in the project, or in the system if that is None."""
        key = (frozenset(roles), project)
        if key not in self.tokens:
            password = "a$" + secrets.token_hex(16)
            body = {"user": {"name": "forge-tests-" + uuid.uuid4().hex, "domain_id": "default", "password": password}}
            user = self.system.request("POST", "/users", body)[1]["user"]["id"]
            where = "/projects/" + project if project else "/system"
            for name in roles:
                self.system.request("PUT", "%s/users/%s/roles/%s" % (where, user, self.role(name)))
            scope = {"project": {"id": project}} if project else {"system": {"all": True}}
            self.tokens[key] = self.issue({"id": user, "password": password}, scope)
        return self.tokens[key]

    def real(self, headers):
        """Returns the token for a request with the headers of Placement's tests, or None.

        X-Auth-Token is "admin" or "user", and may be followed by a colon and a project.
        X-Roles, X-Project-Id and OpenStack-System-Scope say more than it does.
        """
        fake = headers.get("x-auth-token")
        if fake is None:
            return None
        user, _, project = fake.partition(":")
        default = ADMIN if user == "admin" else NO_RIGHTS
        roles = [name for name in headers.get("x-roles", default).split(",") if name]
        if headers.get("openstack-system-scope"):
            return self.token(roles, None)
        asked = headers.get("x-project-id") or project or user
        known = asked in self.projects.values()
        return self.token(roles, asked if known else self.project(asked))
