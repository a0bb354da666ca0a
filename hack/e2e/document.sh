#!/usr/bin/env bash
# Writes the table of the end-to-end suites into docs/testing.md, from what each
# suite says of itself.
#
# Usage: document.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
page=docs/testing.md

rows() {
	printf '| Suite | Shows that | Core |\n|---|---|---|\n'
	find tests/e2e/keystone -name chainsaw-test.yaml | LC_ALL=C sort | while read -r file; do
		local suite=${file#tests/e2e/keystone/}
		awk -v suite="${suite%/*}" '
			/^  description: / { description = substr($0, 16) }
			/^    core: "true"/ { core = "yes" }
			END {
				if (description == "") { print suite " has no description" > "/dev/stderr"; exit 1 }
				printf "| [%s](../tests/e2e/keystone/%s) | %s | %s |\n", suite, suite, description, core
			}' "$file"
	done
}

table=$(rows)
updated=$(awk -v table="$table" '
	/^<!-- suites -->/ { print; print table; inside = 1 }
	/^<!-- \/suites -->/ { inside = 0 }
	!inside || /^<!-- \/suites -->/ { if ($0 !~ /^<!-- suites -->/) print }' "$page")
printf '%s\n' "$updated" >"$page"
