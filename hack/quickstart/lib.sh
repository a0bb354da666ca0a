# What the quick start's scripts share: where things are, and the tools. Sourced,
# with "set -euo pipefail" in force.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=$root/.cache
# The quick start's own cluster, whatever KUBECONFIG says in the caller's shell.
export KUBECONFIG=$root/kubeconfig
# What the tools remember belongs into the checkout's cache.
export KUBECACHEDIR=$cache/kubectl
export HELM_CACHE_HOME=$cache/helm/cache HELM_CONFIG_HOME=$cache/helm/config HELM_DATA_HOME=$cache/helm/data

# The API server is on this machine, whatever proxy others are reached by.
kubectl() { NO_PROXY='*' no_proxy='*' "$cache/bin/kubectl" "$@"; }
forge() { NO_PROXY='*' no_proxy='*' "$cache/bin/kubectl-forge" "$@"; }
helm() { NO_PROXY='*' no_proxy='*' "$cache/bin/helm" "$@"; }

# shellcheck source=progress.sh
source "$root/hack/quickstart/progress.sh"
