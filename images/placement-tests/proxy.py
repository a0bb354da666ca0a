"""Passes requests of the tests to the Service of a Placement, with real tokens."""

import http.client
import urllib.parse

# They say who somebody is. Of real requests, Placement takes that from the token.
IDENTITY = {"x-auth-token", "x-roles", "x-project-id", "x-user-id", "openstack-system-scope"}
HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding"}


def encoded(path):
    """Returns the bytes of a path, which the client gives as text instead of as WSGI asks."""
    try:
        return path.encode("latin-1")
    except UnicodeEncodeError:
        return path.encode()


class Proxy:
    """A WSGI application, as Placement's tests expect one."""

    def __init__(self, url, identity):
        self.address = urllib.parse.urlsplit(url)
        self.identity = identity

    def __call__(self, environ, start_response):
        headers = {name[5:].replace("_", "-").lower(): value for name, value in environ.items() if name.startswith("HTTP_")}
        if environ.get("CONTENT_TYPE"):
            headers["content-type"] = environ["CONTENT_TYPE"]
        token = self.identity.real(headers)
        headers = {name: value for name, value in headers.items() if name not in IDENTITY | HOP_BY_HOP | {"content-length"}}
        if token is not None:
            headers["x-auth-token"] = token
        path = urllib.parse.quote(encoded(environ["PATH_INFO"]))
        if environ.get("QUERY_STRING"):
            path += "?" + environ["QUERY_STRING"]
        length = environ.get("CONTENT_LENGTH") or "0"
        if not length.isdigit():
            # What Placement makes of it is tested.
            headers["content-length"], length = length, "0"
        connection = http.client.HTTPConnection(self.address.hostname, self.address.port, timeout=60)
        try:
            body = environ["wsgi.input"].read(int(length))
            connection.request(environ["REQUEST_METHOD"], path, body or None, headers)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        kept = [(name, value) for name, value in answer.getheaders() if name.lower() not in HOP_BY_HOP]
        start_response("%d %s" % (answer.status, answer.reason), kept)
        return [text]
