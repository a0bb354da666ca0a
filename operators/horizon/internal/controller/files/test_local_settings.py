"""Tests of local_settings.py with constants as the operator sets them."""

import json
import logging
import logging.config
import pathlib
import re
import sys
import tempfile
import types
import unittest
from unittest import mock

FILE = pathlib.Path(__file__).with_name("local_settings.py")


class User:
    """A user who sees some types of services in the catalog."""

    def __init__(self, *services):
        self.services = services

    def has_perm(self, permission):
        return permission.removeprefix("openstack.services.") in self.services


class LocalSettings(unittest.TestCase):
    def setUp(self):
        self.horizon = types.SimpleNamespace(HORIZON_CONFIG={"user_home": "openstack_dashboard.views.get_user_home"})
        modules = {
            "django": types.SimpleNamespace(), "django.urls": types.SimpleNamespace(reverse=lambda name: name),
            "django.utils": types.SimpleNamespace(),
            "django.utils.translation": types.SimpleNamespace(gettext_lazy=lambda text: text),
            "openstack_dashboard": types.SimpleNamespace(), "openstack_dashboard.settings": self.horizon,
        }
        patched = mock.patch.dict(sys.modules, modules)
        patched.start()
        self.addCleanup(patched.stop)

    def load(self, **constants):
        """Returns the settings with these constants."""
        key = tempfile.NamedTemporaryFile("w", suffix=".key")
        self.addCleanup(key.close)
        key.write("k" * 50 + "\n")
        key.flush()
        values = {
            "HOSTS": ["localhost"], "CACHE_SERVERS": ["memcached:11211"], "CACHE_PREFIX": "uid", "LOG_LEVEL": "INFO",
            "LOG_LEVELS": "{}", "GIVEN": "{}", "SECRET_KEY_FILE": key.name, "UPLOAD_DIR": "/uploads", **constants,
        }
        source = FILE.read_text(encoding="utf-8")
        for name, value in values.items():
            source, count = re.subn(r"(?m)^%s = .*$" % name, lambda _: "%s = %r" % (name, value), source)
            self.assertEqual(count, 1, name)
        found = {"__name__": "local_settings"}
        exec(compile(source, FILE, "exec"), found)
        return found

    def test_the_key_is_read_from_its_file(self):
        self.assertEqual(self.load()["SECRET_KEY"], "k" * 50)

    def test_sessions_are_in_memcached(self):
        found = self.load()
        self.assertEqual(found["SESSION_ENGINE"], "django.contrib.sessions.backends.cache")
        sessions = found["CACHES"][found["SESSION_CACHE_ALIAS"]]
        self.assertEqual((sessions["LOCATION"], sessions["KEY_PREFIX"]), (["memcached:11211"], "uid"))

    def test_parts_of_pages_in_memcached_belong_to_one_build_of_the_static_files(self):
        def prefix(**manifests):
            with tempfile.TemporaryDirectory() as root:
                for folder, text in manifests.items():
                    pathlib.Path(root, folder).mkdir()
                    pathlib.Path(root, folder, "manifest.json").write_text(text, encoding="utf-8")
                return self.load(STATIC_ROOT=root)["CACHES"]["default"]["KEY_PREFIX"]

        first = prefix(dashboard='{"key": "first.js"}')
        self.assertTrue(first.startswith("uid"))
        self.assertEqual(first, prefix(dashboard='{"key": "first.js"}'))
        self.assertNotEqual(first, prefix(dashboard='{"key": "second.js"}'))

    def test_a_login_leads_to_a_panel_of_a_service_in_the_catalog(self):
        self.load()
        home = self.horizon.HORIZON_CONFIG["user_home"]
        self.assertEqual(home(User("image", "compute")), "horizon:project:overview:index")
        self.assertEqual(home(User("image")), "horizon:project:images:index")
        self.assertEqual(home(User()), "horizon:identity:projects:index")

    def test_the_header_of_a_gateway_is_trusted_behind_one_only(self):
        self.assertNotIn("SECURE_PROXY_SSL_HEADER", self.load())
        self.assertFalse(self.load()["SESSION_COOKIE_SECURE"])
        found = self.load(BEHIND_TLS=True)
        self.assertEqual(found["SECURE_PROXY_SSL_HEADER"], ("HTTP_X_FORWARDED_PROTO", "https"))
        self.assertTrue(found["SESSION_COOKIE_SECURE"] and found["CSRF_COOKIE_SECURE"])

    def test_people_log_in_with_a_password_in_one_domain(self):
        found = self.load(USER_DOMAIN="Default")
        self.assertFalse(found["WEBSSO_ENABLED"] or found["OPENSTACK_KEYSTONE_MULTIDOMAIN_SUPPORT"])

    def test_people_choose_among_the_domains_that_are_known(self):
        found = self.load(USER_DOMAIN="Default", DOMAINS=["staff", "Default"])
        self.assertTrue(found["OPENSTACK_KEYSTONE_MULTIDOMAIN_SUPPORT"] and found["OPENSTACK_KEYSTONE_DOMAIN_DROPDOWN"])
        self.assertEqual(found["OPENSTACK_KEYSTONE_DOMAIN_CHOICES"], [("Default", "Default"), ("staff", "staff")])

    def test_people_name_any_domain_if_there_may_be_others(self):
        found = self.load(MULTI_DOMAIN=True, DOMAINS=["staff"])
        self.assertTrue(found["OPENSTACK_KEYSTONE_MULTIDOMAIN_SUPPORT"])
        self.assertFalse(found["OPENSTACK_KEYSTONE_DOMAIN_DROPDOWN"])

    def test_people_choose_a_provider_which_their_browser_reaches_through_keystones_public_url(self):
        found = self.load(PROVIDERS=[["company", "openid"]], PUBLIC_IDENTITY_URL="https://keystone.example.com/v3")
        self.assertTrue(found["WEBSSO_ENABLED"])
        self.assertEqual([choice for choice, _ in found["WEBSSO_CHOICES"]], ["credentials", "company_openid"])
        self.assertEqual(found["WEBSSO_IDP_MAPPING"], {"company_openid": ("company", "openid")})
        self.assertEqual(found["WEBSSO_KEYSTONE_URL"], "https://keystone.example.com/v3")
        self.assertFalse(found["WEBSSO_USE_HTTP_REFERER"])

    def test_given_settings_take_precedence_over_defaults(self):
        found = self.load(GIVEN=json.dumps({"SESSION_TIMEOUT": 7200, "OPENSTACK_ENDPOINT_TYPE": "publicURL"}))
        self.assertEqual((found["SESSION_TIMEOUT"], found["OPENSTACK_ENDPOINT_TYPE"]), (7200, "publicURL"))

    def test_a_record_is_one_json_object(self):
        found = self.load(LOG_JSON=True, LOG_LEVELS=json.dumps({"openstack_auth": "DEBUG"}))
        self.assertEqual(found["LOGGING"]["loggers"], {"openstack_auth": {"level": "DEBUG"}})
        logging.config.dictConfig(found["LOGGING"])
        self.addCleanup(logging.getLogger().handlers.clear)
        record = logging.LogRecord("a", logging.ERROR, "f", 1, "two\n%s", ("lines",), None)
        text = found["JSONLines"]().format(record)
        self.assertNotIn("\n", text)
        self.assertEqual(json.loads(text)["message"], "two\nlines")


if __name__ == "__main__":
    unittest.main()
