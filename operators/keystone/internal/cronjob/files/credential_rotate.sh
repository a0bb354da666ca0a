#!/bin/sh
# Makes the next set of credential keys out of the mounted one and stages it.
set -eu

# Always from the keys in use: what a try before this one left behind was never
# staged, and rotating it once more would promote a key that nobody knows. The
# directory behind the link holds one version of the Secret and not parts of two.
rm -f /etc/keystone/credential-keys/*
install -m 0400 "$(readlink -f /credential-keys-src/..data)"/* /etc/keystone/credential-keys/

# Keystone refuses to rotate while a credential is encrypted with another key
# than the primary one. Nothing is migrated to the new key here: that is only
# safe after the operator has taken the new set over.
keystone-manage --config-dir=/etc/keystone/keystone.conf.d/ credential_migrate
keystone-manage --config-dir=/etc/keystone/keystone.conf.d/ credential_rotate
exec python3 /scripts/stage.py /etc/keystone/credential-keys
