#!/usr/bin/env bash
# Runs every fuzz target of the packages, one after another.
#
# Usage: fuzz.sh INPUTS-OR-TIME [PACKAGE-FOLDER...]
# The first argument is for -fuzztime: 20000x inputs for each target, or 1m.
# Without folders, all packages that have targets. Inputs that fail are written to
# the package's testdata/fuzz, where "go test" finds them from then on.
#
# FUZZ_GUIDED=true lets coverage guide the search. That compiles all dependencies
# again, which takes minutes for the first run and is only worth it for long runs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

amount=$1
shift
folders=("$@")
if ((${#folders[@]} == 0)); then
	mapfile -t folders < <(git ls-files -co --exclude-standard '*_test.go' | xargs grep -l '^func Fuzz' | xargs -n1 dirname | sort -u)
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for folder in "${folders[@]}"; do
	mapfile -t targets < <(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$folder"/*_test.go)
	if [[ ${FUZZ_GUIDED:-} != true ]]; then
		go test -c -o "$work/test" "./$folder"
	fi
	for target in "${targets[@]}"; do
		start=$SECONDS
		if [[ ${FUZZ_GUIDED:-} == true ]]; then
			go test -run '^$' -fuzz "^$target\$" -fuzztime "$amount" "./$folder"
		else
			(cd "$folder" && "$work/test" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$amount" \
				-test.fuzzcachedir "$work/corpus" >"$work/log" 2>&1) || { cat "$work/log"; exit 1; }
		fi
		printf '%6d s  %s %s\n' $((SECONDS - start)) "$folder" "$target"
	done
done
