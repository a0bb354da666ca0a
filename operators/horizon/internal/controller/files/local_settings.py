"""The settings of Horizon, which openstack_dashboard.settings reads last.

The operator replaces the constants below. What follows from them is the same for every
Horizon.
"""

import hashlib
import json
import logging
import pathlib

from django.urls import reverse
from django.utils.translation import gettext_lazy
from openstack_dashboard.settings import HORIZON_CONFIG

HOSTS = []
CACHE_SERVERS = []
CACHE_PREFIX = ""
IDENTITY_URL = ""
USER_DOMAIN = ""
MULTI_DOMAIN = False
DOMAINS = []
PROVIDERS = []
PUBLIC_IDENTITY_URL = ""
BEHIND_TLS = False
SECRET_KEY_FILE = ""
UPLOAD_DIR = ""
LOG_JSON = False
LOG_LEVEL = ""
LOG_LEVELS = ""
GIVEN = ""

# Otherwise an error page shows settings to whoever caused the error.
DEBUG = False
WEBROOT = "/"
STATIC_URL = "/static/"
STATIC_ROOT = "/var/lib/openstack-dashboard/static"
# The image has compressed the static files.
COMPRESS_ENABLED = True
COMPRESS_OFFLINE = True
ALLOWED_HOSTS = HOSTS
# The rest of the pod's file system is read-only.
FILE_UPLOAD_TEMP_DIR = UPLOAD_DIR

with open(SECRET_KEY_FILE, encoding="utf-8") as key:
    SECRET_KEY = key.read().strip()


def static_files():
    """Identifies the static files of the image by what they were compressed from."""
    digest = hashlib.sha256()
    for manifest in sorted(pathlib.Path(STATIC_ROOT).glob("*/manifest.json")):
        digest.update(manifest.read_bytes())
    return digest.hexdigest()[:16]


def memcached(prefix):
    """Returns a cache in memcached. A server that does not answer costs what is on it, and no request."""
    return {
        "BACKEND": "django.core.cache.backends.memcached.PyMemcacheCache",
        "LOCATION": CACHE_SERVERS,
        "KEY_PREFIX": prefix,
        "OPTIONS": {"use_pooling": True, "ignore_exc": True, "connect_timeout": 1, "timeout": 2, "dead_timeout": 10, "no_delay": True},
    }


# Each pod knows the sessions, also one of another release. Parts of pages are for images with the
# same static files: Horizon keeps templates for a month, and answers with status 500 to every
# request if they are not those that the image has compressed.
CACHES = {"sessions": memcached(CACHE_PREFIX), "default": memcached(CACHE_PREFIX + "-" + static_files())}
SESSION_ENGINE = "django.contrib.sessions.backends.cache"
SESSION_CACHE_ALIAS = "sessions"

# Only behind a Gateway, which sets the header itself: elsewhere any client could.
if BEHIND_TLS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
CSRF_COOKIE_SECURE = BEHIND_TLS
SESSION_COOKIE_SECURE = BEHIND_TLS
CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"



def home(user):
    """Returns the page that a login leads to: Horizon's own is forbidden where there is no Compute service."""
    for service, panel in (("compute", "project:overview"), ("image", "project:images")):
        if user.has_perm("openstack.services." + service):
            return reverse(f"horizon:{panel}:index")
    return reverse("horizon:identity:projects:index")


HORIZON_CONFIG["user_home"] = home

OPENSTACK_KEYSTONE_URL = IDENTITY_URL
OPENSTACK_KEYSTONE_DEFAULT_DOMAIN = USER_DOMAIN
OPENSTACK_KEYSTONE_MULTIDOMAIN_SUPPORT = MULTI_DOMAIN or bool(DOMAINS)
# A person who may name any domain needs a field for it.
OPENSTACK_KEYSTONE_DOMAIN_DROPDOWN = bool(DOMAINS) and not MULTI_DOMAIN
OPENSTACK_KEYSTONE_DOMAIN_CHOICES = [(name, name) for name in dict.fromkeys([USER_DOMAIN, *DOMAINS])]
OPENSTACK_ENDPOINT_TYPE = "internalURL"
# Of services that have no internal endpoint.
SECONDARY_ENDPOINT_TYPE = "publicURL"

WEBSSO_ENABLED = bool(PROVIDERS)
WEBSSO_IDP_MAPPING = {f"{name}_{protocol}": (name, protocol) for name, protocol in PROVIDERS}
WEBSSO_CHOICES = [("credentials", gettext_lazy("Keystone Credentials"))] + [(f"{name}_{protocol}", name) for name, protocol in PROVIDERS]
WEBSSO_KEYSTONE_URL = PUBLIC_IDENTITY_URL
# The token of such a login is tried where all logins are. Otherwise the browser would say where.
WEBSSO_USE_HTTP_REFERER = False


class JSONLines(logging.Formatter):
    """Formats each record as a JSON object in one line."""

    def format(self, record):
        fields = {
            "asctime": self.formatTime(record),
            "levelname": record.levelname,
            "name": record.name,
            "process": record.process,
            "message": record.getMessage(),
        }
        if record.exc_info:
            fields["exc_info"] = self.formatException(record.exc_info)
        return json.dumps(fields)


LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"format": "%(asctime)s.%(msecs)03d %(process)d %(levelname)s %(name)s %(message)s", "datefmt": "%Y-%m-%d %H:%M:%S"},
        "json": {"()": JSONLines},
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json" if LOG_JSON else "text"}},
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    "loggers": {name: {"level": level} for name, level in json.loads(LOG_LEVELS).items()},
}

globals().update(json.loads(GIVEN))
