# One of our operators, from the chart in its folder.
# shellcheck shell=bash

operator=${current:?}
operator=${operator%-operator}

namespace=$(operator_namespace "$operator")

deploy() { install_operator "$operator"; }

await() { await_operator "$operator" >/dev/null; }
