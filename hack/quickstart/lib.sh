# What the quick start's scripts share: paths and tools. Sourced,
# with "set -euo pipefail" in force.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=$root/.cache
# The quick start's own cluster, regardless of KUBECONFIG in the caller's shell.
export KUBECONFIG=$root/kubeconfig
# The tools' caches belong in the checkout's cache.
export KUBECACHEDIR=$cache/kubectl
export HELM_CACHE_HOME=$cache/helm/cache HELM_CONFIG_HOME=$cache/helm/config HELM_DATA_HOME=$cache/helm/data

# The API server is on this machine, so it is reached without a proxy.
kubectl() { NO_PROXY='*' no_proxy='*' "$cache/bin/kubectl" "$@"; }
forge() { NO_PROXY='*' no_proxy='*' "$cache/bin/kubectl-forge" "$@"; }
helm() { NO_PROXY='*' no_proxy='*' "$cache/bin/helm" "$@"; }

new_password() { od -An -vtx1 -N16 /dev/urandom | tr -d ' \n'; }

# shellcheck source=progress.sh
source "$root/hack/quickstart/progress.sh"
