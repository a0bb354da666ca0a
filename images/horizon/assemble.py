"""Compiles the translations of Horizon, collects and compresses its static files, requests the login
page in every theme and language, and imports all modules.

Run in the root file system of the image. A package that was left out by mistake, or a
stylesheet that a page does not find, fails the build and not a request.
"""

import concurrent.futures
import importlib
import importlib.metadata
import json
import os
import pathlib
import pkgutil
import re
import sys
import types

PACKAGES = ("horizon", "openstack_auth", "openstack_dashboard")
# The backends of sessions and of the cache that settings can name.
MODULES = (
    "django.contrib.sessions.backends.cache",
    "django.contrib.sessions.backends.signed_cookies",
    "django.core.cache.backends.memcached",
    "pymemcache",
)
# Tests, checks of Horizon's own code, the user's settings, and what starts Django once more.
SKIPPED = {"test", "tests", "hacking", "local_settings", "wsgi"}


class OneWorker(concurrent.futures.ThreadPoolExecutor):
    """Compresses one template at a time: templates share a context, which several threads corrupt."""

    def __init__(self, **_):
        super().__init__(max_workers=1)


def set_up():
    """Starts Django with the settings of the image. There is no file with the user's: Python would
    remember what it says.
    """
    local = types.ModuleType("local.local_settings")
    local.SECRET_KEY = "signs nothing that outlives the build"
    local.ALLOWED_HOSTS = ["testserver"]
    local.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    sys.modules[local.__name__] = local
    os.environ["DJANGO_SETTINGS_MODULE"] = "openstack_dashboard.settings"
    importlib.import_module("django").setup()


def compile_translations(folder):
    """Compiles what the package has only as text, as that of 2026.2 does, and removes the text."""
    from babel.messages import mofile, pofile

    for text in folder.rglob("locale/*/LC_MESSAGES/*.po"):
        compiled = text.with_suffix(".mo")
        if not compiled.exists():
            with text.open("rb") as source, compiled.open("wb") as target:
                mofile.write_mo(target, pofile.read_po(source))
        text.unlink()


def build_static_files(root):
    from django.core.management import call_command

    concurrent.futures.ThreadPoolExecutor = OneWorker
    call_command("collectstatic", interactive=False, verbosity=0)
    call_command("compress", force=True, verbosity=0)
    # Templates are compressed in no particular order.
    for manifest in root.rglob("manifest.json"):
        content = json.loads(manifest.read_text(encoding="utf-8"))
        manifest.write_text(json.dumps(content, indent=1, sort_keys=True), encoding="utf-8")


def submodules(name):
    for info in pkgutil.walk_packages(importlib.import_module(name).__path__, name + "."):
        if not SKIPPED & set(info.name.split(".")):
            yield info.name


def import_errors():
    for name in (*MODULES, *(module for package in PACKAGES for module in submodules(package))):
        try:
            importlib.import_module(name)
        except Exception as error:
            yield f"cannot import {name}: {error!r}"


def page_errors(root, theme, language):
    """Returns what is wrong with the login page: it needs a stylesheet and a script, and each file that it names."""
    from django.test import Client

    client = Client(HTTP_ACCEPT_LANGUAGE=language)
    client.cookies["theme"] = theme
    page = client.get("/auth/login/")
    files = re.findall(r'(?:href|src)=[\'"]/static/([^\'"?#]+)', page.content.decode())
    where = f"the login page in {language} with the theme {theme}"
    if page.status_code != 200 or {".css", ".js"} - {pathlib.Path(file).suffix for file in files}:
        yield f"{where}: status {page.status_code}, files {files}"
    yield from (f"{where} names a file that is missing: {file}" for file in files if not (root / file).is_file())


def main():
    set_up()
    from django.conf import settings

    root = pathlib.Path(settings.STATIC_ROOT)
    version = importlib.metadata.version("horizon")
    errors = []
    if not f"{version}.".startswith(f"{sys.argv[1]}."):
        errors.append(f"it has to have version {sys.argv[1]}, but Horizon says {version}")
    for name in PACKAGES:
        folder = pathlib.Path(importlib.import_module(name).__file__).parent
        compile_translations(folder)
        # Debian's package of 2025.1 has none of openstack_auth.
        if name != "openstack_auth" and not (folder / "locale/de/LC_MESSAGES/django.mo").exists():
            errors.append(f"{folder} has no translations")
    build_static_files(root)
    for theme, _, _ in settings.AVAILABLE_THEMES:
        for language, _ in settings.LANGUAGES:
            errors.extend(page_errors(root, theme, language))
    # Afterwards, since this registers panels that are not enabled.
    errors.extend(import_errors())
    for error in errors:
        print(error, file=sys.stderr)
    sys.exit(bool(errors))


main()
