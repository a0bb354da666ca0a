"""Determines which parts of a Secret are secret, and where they appear in the recording of a run.

A recording is a folder of files, each with the lines of one log or with objects,
one a line. Values are in memory only: they are neither written nor printed.
"""

import base64
import binascii
import json
import re
import subprocess
import urllib.parse

# Shorter values match by chance: ports, numbers, words.
SHORTEST = 8

# Types of Secrets of which only these keys are secret.
TYPES = {
    "bootstrap.kubernetes.io/token": {"token-secret"},
    "kubernetes.io/service-account-token": {"token"},
    "kubernetes.io/tls": {"tls.key"},
    # The release that Helm has installed, compressed.
    "helm.sh/release.v1": set(),
}

# Keys whose values also appear in specs, statuses and names, or are meant to be public.
PUBLIC = {"ca.crt", "tls.crt", "application_credential_id", "ca", "database", "endpoint", "host", "id", "metadata.xml",
          "name", "namespace", "port", "region", "since", "tokens.conf", "type", "url", "user", "username"}

# In a text with a setting on each line, such as clouds.yaml, these are secret.
SETTING = re.compile(r"""^[\s-]*["']?([\w.-]+)["']?\s*[:=]\s*(\S.*?)\s*,?$""")
# The header of a section, or an option without a value.
HEADER = re.compile(r"(\[[^\[\]]+\]|[\w.-]+ =)$")
SECRET_SETTING = re.compile(r"password|passwd|secret|token|private|(^|_)key$", re.IGNORECASE)
URL_PASSWORD = re.compile(r"\w://[^\s/:@]*:([^\s@]+)@")
PEM = re.compile(r"-----BEGIN ([A-Z ]+)-----\s(.*?)-----END \1-----", re.DOTALL)

# Allowed findings, by name of the Secret and place.
ALLOWED = [
    # A suite stores the token that its client printed.
    (re.compile(r"^[^/]+/kept$"), re.compile(r"^log of an end-to-end client")),
    # The proof of a backup: hashes of keys, which Keystone stores beside each credential.
    (re.compile(r"^[^/]+/[^/]+-backup-keys$"), re.compile(r"^pods [^ ]+-restore-proof-[^ ]+$")),
]


def secret_parts(key, value, kind=""):
    """Yields the parts of a Secret's value that must not be found anywhere."""
    if key not in TYPES.get(kind, {key}) or key in PUBLIC:
        return
    for title, body in PEM.findall(value):
        # Certificates and public keys are public.
        if "PRIVATE" in title:
            yield from body.split()
    lines = PEM.sub("", value).strip().splitlines()
    for line in lines:
        # These are the same in all configuration files.
        if len(lines) > 1 and HEADER.match(line.strip()):
            continue
        yield from URL_PASSWORD.findall(line)
        setting = SETTING.match(line) if len(lines) > 1 else None
        if setting is None:
            yield line.strip()
        elif SECRET_SETTING.search(setting.group(1)):
            yield setting.group(2).strip("\"'")


def decoded(secret, key):
    """Returns the text under the key of a Secret, "" without one."""
    return base64.b64decode((secret.get("data") or {}).get(key) or "").decode(errors="replace")


def encodings(part):
    """Maps the encodings of a value, as bytes, to their names."""
    raw = part.encode()
    found = {}
    for text, how in (
            (part, "as it is"),
            (json.dumps(part, ensure_ascii=False)[1:-1], "in JSON"),
            (json.dumps(part)[1:-1], "in JSON"),
            (urllib.parse.quote(part, safe=""), "in a URL"),
            (urllib.parse.quote_plus(part), "in a URL"),
            (urllib.parse.unquote(part), "out of a URL"),
    ):
        # The simplest of equal encodings comes first.
        found.setdefault(text.encode(), how)
    # In base64 the encoding of a value depends on the number of preceding bytes
    # modulo 3, and its ends depend on the adjacent bytes.
    for offset in range(3):
        bits = (offset * 8, (offset + len(raw)) * 8)
        text = base64.b64encode(b"\0" * offset + raw)[-(-bits[0] // 6):bits[1] // 6]
        found.setdefault(text, "in base64")
        found.setdefault(text.translate(bytes.maketrans(b"+/", b"-_")), "in base64")
    return {text: how for text, how in found.items() if len(text) >= SHORTEST}


class Values:
    """The secret values that were seen in a run."""

    def __init__(self):
        self.owners = {}
        self.secrets = set()

    def add(self, secret):
        """Records the secret values of a Secret, even if it is deleted later."""
        meta = secret["metadata"]
        name = f"{meta.get('namespace', '')}/{meta['name']}"
        self.secrets.add(name)
        # A private key has the modulus, too, which is in the certificate.
        certificate = "".join(decoded(secret, "tls.crt").split())
        for key, encoded in (secret.get("data") or {}).items():
            try:
                value = base64.b64decode(encoded or "").decode()
            except (binascii.Error, UnicodeDecodeError):
                # Compressed or encrypted data: it is never quoted.
                continue
            for part in secret_parts(key, value, secret.get("type", "")):
                if len(part) >= SHORTEST and len(set(part)) > 2 and part not in certificate:
                    self.owners.setdefault(part, set()).add((name, key))

    def patterns(self, names):
        """Maps each pattern to search for to (Secret, key, how). A value that is part of a name
        is omitted: searching for it would only find the name.
        """
        found = {}
        for part, owners in self.owners.items():
            if part in names:
                continue
            for text, how in encodings(part).items():
                found.setdefault(text, set()).update((name, key, how) for name, key in owners)
        return found


class Names:
    """The names of all objects in the cluster."""

    def __init__(self):
        self.known = set()

    def add(self, obj):
        """Records an object's name, namespace and labels."""
        meta = obj["metadata"]
        self.known.update((meta["name"], meta.get("namespace", ""), *(meta.get("labels") or {}).values()))

    def __contains__(self, part):
        return any(part in name for name in self.known)


def search(patterns, files):
    """Yields (file, line number, pattern) for each place where one is found."""
    if not patterns or not files:
        return
    # Patterns are passed through a pipe: they must not be on disk or in a process list.
    command = ("grep", "--text", "--only-matching", "--line-number", "--with-filename", "--null", "--fixed-strings", "--file=-", "--")
    done = subprocess.run((*command, *files), input=b"\n".join(patterns), capture_output=True, check=False,
                          env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
    if done.returncode > 1:
        raise RuntimeError("grep failed: " + done.stderr.decode(errors="replace"))
    for line in done.stdout.splitlines():
        file, _, rest = line.partition(b"\0")
        number, _, text = rest.partition(b":")
        yield file.decode(), int(number), text


def problems(values, names, places):
    """Returns the places where a value was found, one line each, without the value.

    places maps each file of the recording to a function that names the place of
    a line.
    """
    patterns = values.patterns(names)
    found = set()
    for file, number, text in search(patterns, list(places)):
        place = places[file](number)
        for name, key, how in patterns.get(text, ()):
            if not any(secret.search(name) and where.search(place) for secret, where in ALLOWED):
                found.add(f"{place}: key {key} of Secret {name}, {how}")
    return sorted(found)
