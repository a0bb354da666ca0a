#!/bin/sh
# Makes a new password for the administrator and stages it.
set -eu

export PYTHONPATH=/scripts PYTHONDONTWRITEBYTECODE=1
exec python3 /scripts/admin_password.py
