#!/usr/bin/env bash
# Says what to use instead of a make target that does not exist, and fails.
#
# Usage: refused.sh TARGET
set -euo pipefail

case $1 in
check-feature-ids) use='docs/behaviours.md is checked by: make test-unit GO_TEST_FLAGS="-run TestEveryBehaviour"' ;;
e2e-chaos) use='outages are suites of their own: make e2e SUITES="database-outage cache-outage c5c3/backing-operator-outage c5c3/secret-store-outage"' ;;
e2e-prometheus) use='there is no Prometheus on the local cluster; the metrics that dashboards show are checked by: make test' ;;
perf-benchmark) use='make bench' ;;
stage-prometheus-dashboard) use='the dashboards are in operators/*/dashboards, ready to be imported' ;;
tempest-test) use='Tempest is not packaged here; the suites talk to a real Keystone with the OpenStack client: make e2e' ;;
test-shell) use='make shellcheck e2e-scripts test-release' ;;
*) use='make help lists the targets' ;;
esac
echo "there is no target \"$1\": $use" >&2
exit 2
