"""Reads the settings with the image, as the pods that serve pages will.

The output names settings and says what Django reports about them. It repeats no value of
theirs, since any may be secret.
"""

import os
import sys

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openstack_dashboard.settings")


def main():
    try:
        import django
        from django.core import checks

        django.setup()
        from django.urls import get_resolver

        # Reads the panels, their URLs and what these import.
        get_resolver().reverse_dict
        found = checks.run_checks()
    except Exception as error:
        print("Horizon does not start with these settings: %s" % type(error).__name__, file=sys.stderr)
        sys.exit(1)
    serious = [message for message in found if message.is_serious(checks.ERROR)]
    for message in serious:
        print("Django reports %s" % message.id, file=sys.stderr)
    sys.exit(1 if serious else 0)


if __name__ == "__main__":
    main()
