# Our operator of ControlPlanes.
# shellcheck shell=bash

namespace=c5c3-system

deploy() { install_operator c5c3; }

await() { await_operator c5c3 >/dev/null; }
