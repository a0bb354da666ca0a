"""Logs in to a Horizon as a browser does, or uses the session of an earlier login.

Usage: session.py login URL <PASSWORD   prints the ID of the session
       session.py use URL <ID           prints where the page of the projects is
"""

import html.parser
import http.cookiejar
import sys
import urllib.parse
import urllib.request

COOKIE = "sessionid"


class Form(html.parser.HTMLParser):
    """Collects the fields of a page with their values, such as the token against forged requests."""

    def __init__(self):
        super().__init__()
        self.fields = {}

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "input" and attributes.get("name"):
            self.fields[attributes["name"]] = attributes.get("value") or ""


def browse(jar, url, fields=None):
    """Returns the address at which redirections end, and the page there."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    data = urllib.parse.urlencode(fields).encode() if fields else None
    with browser.open(url, data, timeout=60) as answer:
        return urllib.parse.urlsplit(answer.geturl()).path, answer.read().decode()


def login(url, password):
    jar = http.cookiejar.CookieJar()
    form = Form()
    form.feed(browse(jar, url + "/auth/login/")[1])
    path, _ = browse(jar, url + "/auth/login/", {**form.fields, "username": "admin", "password": password})
    if path.startswith("/auth/login"):
        sys.exit("the login is refused")
    print(next(cookie.value for cookie in jar if cookie.name == COOKIE))


def use(url, session):
    host = urllib.parse.urlsplit(url).hostname
    jar = http.cookiejar.CookieJar()
    jar.set_cookie(http.cookiejar.Cookie(
        0, COOKIE, session, None, False, host, False, False, "/", True, False, None, True, None, None, {}))
    path, page = browse(jar, url + "/identity/")
    if "/auth/logout/" not in page:
        sys.exit("nobody is logged in at " + path)
    print(path)


if __name__ == "__main__":
    {"login": login, "use": use}[sys.argv[1]](sys.argv[2], sys.stdin.readline().strip())
