"""Uses the application credential of a service as somebody who has stolen it, and prints what is answered.

Usage: credential.py IDENTITY-URL PLACEMENT-URL <JSON   with the keys of the Secret, in base64
"""

import base64
import json
import sys
import urllib.error
import urllib.request

identity, placement = sys.argv[1:]
secret = {key: base64.b64decode(value).decode() for key, value in json.load(sys.stdin).items()}


def ask(url, body=None, **headers):
    """Returns the status and the headers of the answer."""
    request = urllib.request.Request(url, json.dumps(body).encode() if body else None, {
        "Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.headers


status, headers = ask(identity + "/auth/tokens", {"auth": {"identity": {"methods": ["application_credential"], "application_credential": {
    "id": secret["application_credential_id"], "secret": secret["application_credential_secret"]}}}})
token = headers["X-Subject-Token"] or ""
print("login", status)
# Keystone says nothing of a token with access rules to a client that does not know of these.
print("validation", ask(identity + "/auth/tokens", X_Auth_Token=token, X_Subject_Token=token, OpenStack_Identity_Access_Rules="1.0")[0])
print("users", ask(identity + "/users", X_Auth_Token=token)[0])
print("projects", ask(identity + "/auth/projects", X_Auth_Token=token)[0])
print("placement", ask(placement + "/resource_providers", X_Auth_Token=token)[0])
