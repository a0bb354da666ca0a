# Our operator of Keystones.
# shellcheck shell=bash

namespace=keystone-system

deploy() { install_operator keystone; }

await() { await_operator keystone >/dev/null; }
