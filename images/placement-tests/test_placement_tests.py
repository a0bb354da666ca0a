"""Tests of the proxy for Placement's tests, and of the users that it stands in for."""

import http.server
import io
import threading
import unittest

from identity import Identity
from proxy import Proxy


class Fake(Identity):
    """Has tokens that say what they are for."""

    def __init__(self):
        self.projects = {"known": "123"}

    def token(self, roles, project):
        return "%s in %s" % (",".join(roles), project or "the system")

    def project(self, key):
        return "project of " + key


class IdentityTest(unittest.TestCase):
    """Translates what tests say about their users."""

    def test_each_user_of_the_tests_gets_a_token(self):
        for headers, expected in (
            ({}, None),
            ({"x-auth-token": "admin"}, "admin,service in project of admin"),
            ({"x-auth-token": "user"}, "forge-tests-no-rights in project of user"),
            ({"x-auth-token": "user", "x-roles": "reader", "openstack-system-scope": "all"}, "reader in the system"),
            ({"x-auth-token": "user", "x-roles": "member,reader", "x-project-id": "123"}, "member,reader in 123"),
            ({"x-auth-token": "user", "x-roles": "service", "x-project-id": "other"}, "service in project of other"),
        ):
            with self.subTest(headers):
                self.assertEqual(expected, Fake().real(headers))


class Echo(http.server.BaseHTTPRequestHandler):
    """Answers with the request."""

    def do_PUT(self):
        length = self.headers["Content-Length"]
        body = self.rfile.read(int(length)) if length.isdigit() else length.encode()
        text = "%s %s %s %s" % (self.path, self.headers["X-Auth-Token"], self.headers["X-Roles"], body.decode())
        self.send_response(201)
        self.send_header("Content-Length", str(len(text)))
        self.send_header("Location", "/here")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args):
        pass


class ProxyTest(unittest.TestCase):
    """Passes a request to a server."""

    def put(self, **changes):
        """Returns the answer to a request of a test, and what was passed with it."""
        server = http.server.HTTPServer(("127.0.0.1", 0), Echo)
        self.addCleanup(server.server_close)
        threading.Thread(target=server.handle_request, daemon=True).start()
        seen = []
        environ = {
            "REQUEST_METHOD": "PUT", "PATH_INFO": "/a b", "QUERY_STRING": "c=%20d", "CONTENT_LENGTH": "2", "wsgi.input": io.BytesIO(b"{}"),
            "HTTP_X_AUTH_TOKEN": "user", "HTTP_X_ROLES": "reader", "HTTP_OPENSTACK_SYSTEM_SCOPE": "all", **changes,
        }
        proxy = Proxy("http://127.0.0.1:%d" % server.server_port, Fake())
        return proxy(environ, lambda status, headers: seen.append((status, dict(headers)))), seen[0]

    def test_a_request_is_passed_on_with_the_real_token(self):
        answer, (status, headers) = self.put()
        self.assertEqual([b"/a%20b?c=%20d reader in the system None {}"], answer)
        self.assertEqual("201 Created", status)
        self.assertEqual("/here", headers["Location"])

    def test_a_path_in_any_alphabet_is_passed_on(self):
        for path in ("/\u2603", "/\u2603".encode().decode("latin-1")):
            with self.subTest(path):
                answer, _ = self.put(PATH_INFO=path)
                self.assertTrue(answer[0].startswith(b"/%E2%98%83?"), answer)

    def test_a_malformed_length_is_left_to_placement(self):
        answer, _ = self.put(CONTENT_LENGTH="hi mom")
        self.assertTrue(answer[0].endswith(b" hi mom"), answer)


if __name__ == "__main__":
    unittest.main()
