"""Tests of forge_vault.py, with clients as different releases have them."""

import pathlib
import types
import unittest

FILE = pathlib.Path(__file__).with_name("forge_vault.py")


class KeyManagerError(Exception):
    """Stands for the client's own."""


class Forbidden(Exception):
    """Stands for the client's own."""


def corrected(attribute, answers):
    """Returns a client with a token in an attribute, whose store gives the answers one after the other."""

    class VaultKeyManager:
        def __init__(self):
            self.logins = 0
            setattr(self, attribute, "token")

        def _do_http_request(self, method, resource, json=None):
            if getattr(self, attribute) is None:
                self.logins += 1
                setattr(self, attribute, "new token")
            status = answers.pop(0)
            if status == 403:
                raise Forbidden()
            return types.SimpleNamespace(status_code=status, reason="Because")

    correction = {}
    exec(compile(FILE.read_text(encoding="utf-8"), FILE, "exec"), correction)
    correction["correct"](types.SimpleNamespace(
        VaultKeyManager=VaultKeyManager, exception=types.SimpleNamespace(KeyManagerError=KeyManagerError, Forbidden=Forbidden)))
    return VaultKeyManager()


class Vault(unittest.TestCase):
    def test_a_write_that_the_store_refuses_fails(self):
        for status in (400, 404, 405, 413, 429, 502):
            with self.subTest(status), self.assertRaisesRegex(KeyManagerError, "the store answered %d Because" % status):
                corrected("_cached_token_id", [status])._do_http_request(None, "url", json={})

    def test_a_secret_that_does_not_exist_is_for_the_client(self):
        self.assertEqual(corrected("_cached_token_id", [404])._do_http_request(None, "url").status_code, 404)

    def test_another_refusal_of_a_read_fails(self):
        with self.assertRaisesRegex(KeyManagerError, "429"):
            corrected("_cached_token_id", [429])._do_http_request(None, "url")

    def test_what_is_done_succeeds(self):
        for status in (200, 204):
            self.assertEqual(corrected("_cached_token_id", [status])._do_http_request(None, "url", json={}).status_code, status)

    def test_a_revoked_token_is_replaced(self):
        for attribute in ("_cached_token_id", "_cached_approle_token_id"):
            client = corrected(attribute, [403, 200])
            self.assertEqual(client._do_http_request(None, "url", json={}).status_code, 200)
            self.assertEqual(client.logins, 1)

    def test_what_a_new_token_may_not_do_either_is_forbidden(self):
        client = corrected("_cached_token_id", [403, 403])
        with self.assertRaises(Forbidden):
            client._do_http_request(None, "url")
        self.assertEqual(client.logins, 1)

    def test_a_login_that_is_forbidden_is_not_repeated(self):
        client = corrected("_cached_token_id", [403])
        client._cached_token_id = None
        with self.assertRaises(Forbidden):
            client._do_http_request(None, "url")


if __name__ == "__main__":
    unittest.main()
