"""Answers 500 where Keystone's application raises, and tells of answers without the cache.

Keystone has Flask pass on each exception that is none of its own, such as that of
a database which goes away, and uWSGI then closes the connection without an answer.
A client takes that for a broken network, and may wait for it on a kept connection.

sitecustomize.py puts this around the application when a process makes it.
"""

import json
import logging
import sys
import traceback

# What a client is told besides the status, for whoever looks for the cause.
PART_HEADER = "X-Forge-Failed-Part"

PARTS = {
    "database": ("sqlalchemy", "oslo_db", "pymysql"),
    "cache": ("dogpile", "oslo_cache", "pymemcache", "memcache", "bmemcached", "pylibmc"),
    "keys": ("cryptography.fernet", "keystone.common.fernet_utils", "keystone.token.token_formatters"),
}

LOG = logging.getLogger(__name__)


def answering(application):
    """Wraps a WSGI application so that it answers each request.

    The answer is held back until it is complete: Keystone's are small, and half
    an answer could not be taken back.
    """

    def call(environ, start_response):
        answer = Answer()
        try:
            answer.take(application(environ, answer.start))
            answer.headers = answer.headers + without_cache(answer.headers)
        except Exception as error:
            LOG.error("%s", report(environ, error))
            answer = failure(environ, error)
        start_response(answer.status, answer.headers)
        return answer.body

    return call


def without_cache(headers):
    """Returns the header that tells who asks that the cache does not answer: no request fails for that."""
    guard = sys.modules.get("forge_cache")
    if guard is None or not guard.OUTAGE.lasts() or any(name == PART_HEADER for name, _ in headers):
        return []
    return [(PART_HEADER, "cache")]


class Answer:
    def __init__(self):
        self.status, self.headers, self.body = None, [], []

    def start(self, status, headers, exc_info=None):
        self.status, self.headers = status, headers
        return self.body.append

    def take(self, parts):
        try:
            self.body.extend(parts)
        finally:
            if hasattr(parts, "close"):
                parts.close()


def failure(environ, error):
    answer = Answer()
    answer.body.append(json.dumps({"error": {
        "code": 500, "title": "Internal Server Error",
        "message": "An unexpected error prevented the server from fulfilling your request.",
    }}).encode())
    headers = {
        "Content-Type": "application/json", "Content-Length": str(len(answer.body[0])), "Vary": "X-Auth-Token",
        "x-openstack-request-id": environ.get("openstack.request_id"), PART_HEADER: failed_part(error),
    }
    answer.start("500 Internal Server Error", [(name, value) for name, value in headers.items() if value])
    return answer


def failed_part(error):
    """Returns the part to which the innermost known library on the way to the error belongs."""
    found = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        name = frame.f_globals.get("__name__", "")
        for part, modules in PARTS.items():
            if any(name == module or name.startswith(module + ".") for module in modules):
                found = part
    return found


def report(environ, error):
    """Tells where each error of the chain was raised, and nothing of what it quotes: a statement's parameters are secrets."""
    request = " ".join(environ.get(name, "-") for name in ("REQUEST_METHOD", "PATH_INFO", "openstack.request_id"))
    lines = ["An exception kept Keystone from answering %s" % request]
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        lines.append(kind(error))
        lines.extend(line.rstrip() for line in traceback.format_tb(error.__traceback__))
        error = error.__cause__ or error.__context__
    return "\n".join(lines)


def kind(error):
    """Returns the class of the error, and the number by which drivers and systems tell theirs apart."""
    number = error.args[0] if error.args and isinstance(error.args[0], int) else ""
    return ("%s.%s %s" % (type(error).__module__, type(error).__qualname__, number)).rstrip()
