#!/bin/sh
# Makes a new password for the administrator and stages it. It is never printed
# and never an argument of a program.
set -eu

export PYTHONPATH=/scripts PYTHONDONTWRITEBYTECODE=1
exec python3 -c '
import os, secrets, stage
stage.stage({"password": secrets.token_urlsafe(int(os.environ["PASSWORD_LENGTH"])).encode()})'
