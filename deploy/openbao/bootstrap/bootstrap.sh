#!/usr/bin/env bash
# Sets OpenBao up after its first start: keys, engines, logins, policies and initial
# secrets. A second run only adds what is missing.
#
# Usage: bootstrap.sh
# Environment: see the scripts that it runs, and lib.sh.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

for script in init-unseal setup-secret-engines setup-auth setup-policies write-bootstrap-secrets; do
	"$here/$script.sh"
done
