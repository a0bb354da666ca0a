#!/usr/bin/env bash
# Sets OpenBao up from its first start on: keys, engines, logins, policies and first
# secrets. Run again it changes only what is missing.
#
# Usage: bootstrap.sh
# Environment: see the scripts that it runs, and lib.sh.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

for script in init-unseal setup-secret-engines setup-auth setup-policies write-bootstrap-secrets; do
	"$here/$script.sh"
done
