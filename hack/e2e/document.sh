#!/usr/bin/env bash
# Writes the table of the end-to-end suites into docs/testing.md, from the
# descriptions in the suites.
#
# Usage: document.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
page=docs/testing.md

rows() {
	printf '| Suite | Shows that | Core | Images of other releases |\n|---|---|---|---|\n'
	find tests/e2e -name chainsaw-test.yaml | LC_ALL=C sort -t/ -k3,3r -k4 | while read -r file; do
		local folder=${file%/*}
		local suite=${folder#tests/e2e/}
		awk -v suite="$suite" -v folder="$folder" '
			/^  description: / { description = substr($0, 16) }
			/^    core: "true"/ { core = "yes" }
			sub(/^    image\//, "") { sub(/:.*/, ""); images = images (images == "" ? "" : ", ") $0 }
			END {
				if (description == "") { print suite " has no description" > "/dev/stderr"; exit 1 }
				printf "| [%s](../%s) | %s | %s | %s |\n", suite, folder, description, core, images
			}' "$file"
	done
}

table=$(rows)
updated=$(awk -v table="$table" '
	/^<!-- suites -->/ { print; print table; inside = 1 }
	/^<!-- \/suites -->/ { inside = 0 }
	!inside || /^<!-- \/suites -->/ { if ($0 !~ /^<!-- suites -->/) print }' "$page")
printf '%s\n' "$updated" >"$page"
