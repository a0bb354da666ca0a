"""Speaks JSON with the API of Keystone or of Placement."""

import json
import urllib.error
import urllib.request


class Refused(Exception):
    """The API has answered with an error."""

    def __init__(self, method, url, status, text):
        super().__init__("%s %s: %d %s" % (method, url, status, text[:500]))
        self.status = status


class API:
    """An API at a URL, with the headers that each request gets."""

    def __init__(self, url, headers=None):
        self.url = url.rstrip("/")
        self.headers = {"Accept": "application/json", **(headers or {})}

    def request(self, method, path, body=None):
        """Returns the headers and the decoded body of the answer."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {**self.headers, "Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                text = answer.read()
                return answer.headers, json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            raise Refused(method, self.url + path, error.code, error.read().decode(errors="replace")) from None

    def get(self, path):
        """Returns the decoded body of a GET."""
        return self.request("GET", path)[1]
