"""Tests of leaks.py."""

import base64
import pathlib
import tempfile
import unittest

import leaks

PASSWORD = "e2e-p@ss:w/rd?&=#%+"
KEY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj"
PLACE = "log of a container, openstack/keystone-0 keystone"
CERTIFICATE = "MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0B"


def secret(name="db", kind="Opaque", **data):
    encoded = {key.replace("__", "."): base64.b64encode(value.encode()).decode() for key, value in data.items()}
    return {"metadata": {"namespace": "openstack", "name": name}, "type": kind, "data": encoded}


class Leaks(unittest.TestCase):
    def found(self, text, *secrets, names=(), place=PLACE):
        values, known = leaks.Values(), leaks.Names()
        for each in secrets:
            values.add(each)
        for name in names:
            known.add({"metadata": {"name": name, "namespace": "openstack"}})
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "log"
            file.write_bytes(text if isinstance(text, bytes) else text.encode())
            lines = leaks.problems(values, known, {str(file): lambda number: f"{place}, line {number}"})
        for line in lines:
            for each in secrets:
                for value in each["data"].values():
                    self.assertNotIn(base64.b64decode(value).decode(), line, "the report quotes the value")
        return lines

    def test_a_value_is_found_wherever_it_is_written(self):
        quoted = "e2e-p%40ss%3Aw%2Frd%3F%26%3D%23%25%2B"
        for text, how in {
            f"fine\nlogin with {PASSWORD} failed\n": "as it is",
            f"fine\nmysql://keystone:{quoted}@db/keystone": "in a URL",
            "\n" + base64.b64encode(PASSWORD.encode()).decode(): "in base64",
        }.items():
            self.assertEqual(self.found(text, secret(password=PASSWORD)),
                             [f"{PLACE}, line 2: key password of Secret openstack/db, {how}"])

    def test_base64_of_something_around_the_value_is_found(self):
        for before in ("", "a", "ab", "abc"):
            text = base64.b64encode(f"{before}{PASSWORD} and more".encode())
            self.assertEqual(len(self.found(text, secret(password=PASSWORD))), 1, before)
            self.assertEqual(len(self.found(base64.urlsafe_b64encode(text), secret(password=text.decode()))), 1, before)

    def test_a_value_in_json_is_found(self):
        text = r'{"message": "-e2e $admin \"password is wrong"}'
        self.assertEqual(len(self.found(text, secret(password='-e2e $admin "password'))), 1)

    def test_what_is_not_there_is_not_found(self):
        self.assertEqual(self.found("login failed\n\xff\x00", secret(password=PASSWORD)), [])
        self.assertEqual(self.found(f"login with {PASSWORD[:-1]} failed", secret(password=PASSWORD)), [])
        self.assertEqual(self.found("anything"), [])

    def test_what_is_public_may_be_said(self):
        text = f"keystone-user openstack-id {CERTIFICATE} enabled! 11111111"
        certificate = f"-----BEGIN CERTIFICATE-----\n{CERTIFICATE}\n-----END CERTIFICATE-----\n"
        self.assertEqual(self.found(text, secret(username="keystone-user", id="openstack-id", bundle=certificate, port="11111111"),
                                    secret(kind="helm.sh/release.v1", release="enabled!"),
                                    secret(kind="bootstrap.kubernetes.io/token", description="enabled!")), [])

    def test_a_section_of_a_configuration_file_is_no_secret(self):
        self.assertEqual(self.found("[security_compliance]", secret(options="[security_compliance]\npassword_regex = .{12,}\n")), [])
        self.assertEqual(len(self.found("[security_compliance]", secret(password="[security_compliance]"))), 1)

    def test_an_option_without_a_value_is_no_secret(self):
        options = secret(secret__conf="[keystone_authtoken]\nproject_name =\npassword = hidden-for-good\n")
        self.assertEqual(self.found("project_name = service", options), [])
        self.assertEqual(len(self.found("hidden-for-good", options)), 1)

    def test_a_short_value_or_one_of_a_single_sign_is_found_by_chance(self):
        self.assertEqual(self.found("the second of 11111111", secret(password="second", other="11111111")), [])

    def test_what_is_part_of_a_name_cannot_be_told_from_it(self):
        text = "started keystone-admin-password-rotate"
        self.assertEqual(self.found(text, secret(password="admin-password"), names=["keystone-admin-password-rotate"]), [])
        self.assertEqual(len(self.found(text, secret(password="admin-password"))), 1)

    def test_private_keys_are_found_line_by_line(self):
        tls = secret(kind="kubernetes.io/tls", tls__key=f"-----BEGIN PRIVATE KEY-----\n{KEY}\n{KEY[::-1]}\n-----END PRIVATE KEY-----\n")
        self.assertEqual(len(self.found(f"x\n{KEY[::-1]}", tls)), 1)

    def test_what_a_private_key_shares_with_its_certificate_is_public(self):
        def pem(title, *lines):
            return f"-----BEGIN {title}-----\n" + "\n".join(lines) + f"\n-----END {title}-----\n"

        tls = secret(kind="kubernetes.io/tls", tls__crt=pem("CERTIFICATE", "MII" + KEY[:30], KEY[30:]),
                     tls__key=pem("PRIVATE KEY", KEY, KEY[::-1]))
        self.assertEqual(self.found(f"<X509Certificate>MII{KEY}</X509Certificate>", tls), [])
        self.assertEqual(len(self.found(KEY[::-1], tls)), 1)

    def test_of_settings_only_the_secret_ones_count(self):
        clouds = secret(**{"clouds__yaml": "clouds:\n  admin:\n    auth_type: v3applicationcredential\n    auth:\n"
                           "      application_credential_id: 0123456789abcdef\n"
                           "      application_credential_secret: \"s3cret-of-the-cloud\"\n"})
        self.assertEqual(self.found("v3applicationcredential 0123456789abcdef", clouds), [])
        self.assertEqual(len(self.found("got s3cret-of-the-cloud", clouds)), 1)

    def test_the_password_of_a_url_counts_by_itself(self):
        url = secret(connection="mysql+pymysql://keystone:s3cret%2Fword@db/keystone?charset=utf8")
        self.assertEqual(len(self.found("Access denied (s3cret/word)", url)), 1)
        self.assertEqual(len(self.found("Access denied (s3cret%2Fword)", url)), 1)

    def test_a_value_of_several_secrets_names_all(self):
        lines = self.found(PASSWORD, secret("a", password=PASSWORD), secret("b", password=PASSWORD))
        self.assertEqual([line.rpartition("Secret ")[2] for line in lines], ["openstack/a, as it is", "openstack/b, as it is"])

    def test_a_client_of_a_suite_may_print_the_token_that_is_kept(self):
        kept = secret("kept", value="gAAAAABoEx-token")
        client = "log of an end-to-end client, openstack/token-before client"
        self.assertEqual(self.found("gAAAAABoEx-token", kept, place=client), [])
        self.assertEqual(len(self.found("gAAAAABoEx-token", kept)), 1)
        self.assertEqual(len(self.found(PASSWORD, secret(password=PASSWORD), place=client)), 1)


if __name__ == "__main__":
    unittest.main()
