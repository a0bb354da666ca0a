#!/bin/sh
# Makes the next set of token keys out of the mounted one and stages it.
set -eu

# Always from the keys in use: what a try before this one left behind was never
# staged, and rotating it once more would promote a key that nobody knows. The
# directory behind the link holds one version of the Secret and not parts of two.
rm -f /etc/keystone/fernet-keys/*
install -m 0400 "$(readlink -f /fernet-keys-src/..data)"/* /etc/keystone/fernet-keys/

keystone-manage --config-dir=/etc/keystone/keystone.conf.d/ fernet_rotate
exec python3 /scripts/stage.py /etc/keystone/fernet-keys
