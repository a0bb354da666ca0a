#!/usr/bin/env bash
# Tests a chart: compares what it renders for some values with files next to
# them, and checks that invalid values are refused with the right message.
#
# Usage: test.sh HELM CHART
#   HELM    the helm binary
#   CHART   the chart's folder, with its dependencies built; in its tests/ are
#     rendered/NAME.values.yaml   values, and NAME.yaml: the objects expected
#     refused/NAME.values.yaml    values, after "# message: <part of the error>"
#     rbac-rules.yaml             used in place of files/rbac-rules.yaml, or of each of the
#                                 operators that the program runs
# Environment: UPDATE=1 writes the expected objects instead of comparing.
set -euo pipefail

helm=$1 chart=$2
tests=$chart/tests
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$chart" "$work/chart"
find "$work/chart/files" -name rbac-rules.yaml -exec cp "$tests/rbac-rules.yaml" {} \;
# The rendered objects should change with a template, not with each release.
sed -i -E 's/^(version|appVersion): .*/\1: 1.2.3/' "$work/chart/Chart.yaml"

passed=0 failed=0
pass() { passed=$((passed + 1)); }
fail() {
	failed=$((failed + 1))
	echo "FAIL: $*" >&2
}

render() {
	"$helm" template example "$work/chart" --namespace operators --values "$1"
}

# check_rendered VALUES compares the rendered objects with the expected ones.
check_rendered() {
	local values=$1 expected=${1%.values.yaml}.yaml
	if ! render "$values" >"$work/actual.yaml" 2>"$work/error"; then
		fail "$values does not render: $(cat "$work/error")"
	elif [[ ${UPDATE:-} == 1 ]]; then
		cp "$work/actual.yaml" "$expected"
	elif diff -u "$expected" "$work/actual.yaml"; then
		pass
	else
		fail "$expected differs from the rendered chart (UPDATE=1 updates it)"
	fi
}

# check_refused VALUES expects rendering to fail with the message in the first line of the values.
check_refused() {
	local values=$1 message
	message=$(sed -n '1s/^# message: //p' "$values")
	if [[ -z $message ]]; then
		fail "$values does not start with \"# message:\""
	elif render "$values" >/dev/null 2>"$work/error"; then
		fail "$values is accepted"
	elif grep -qF -- "$message" "$work/error"; then
		pass
	else
		fail "$values is refused for a reason other than \"$message\": $(cat "$work/error")"
	fi
}

# The chart names webhooks and their paths by convention; controller-gen reads
# them from the code.
check_webhooks() {
	local generated=$chart/../../config/webhook/manifests.yaml
	[[ -f $generated ]] || return 0
	list_webhooks() { sed -nE 's/^[- ]*(name: .*\.kb\.io|path: .*-.*)$/\1/p' "$1" | sort; }
	if diff -u <(list_webhooks "$generated") <(list_webhooks "$tests/rendered/defaults.yaml"); then
		pass
	else
		fail "the chart's webhooks differ from those in $generated"
	fi
}

# An upgrade from the last release keeps the user's values, and the selector of a
# Deployment, which cannot change: Helm would fail halfway.
check_upgrade() {
	local name released selector
	name=$(basename "$chart")
	released=$(find "$chart/../../../../tests/e2e/released" -name "$name-*.tgz")
	# An operator has none before its first release.
	[[ -n $released ]] || return 0
	if [[ $(wc -l <<<"$released") != 1 ]]; then
		fail "tests/e2e/released has to hold one archive of $name, not \"$released\""
		return
	fi
	tar --extract --to-stdout --file="$released" "$name/values.yaml" >"$work/released.values.yaml"
	selector='/^kind: Deployment/,/^  template:/ { /matchLabels:/,/^  template:/p }'
	if ! render "$work/released.values.yaml" >"$work/actual.yaml" 2>"$work/error"; then
		fail "the values of $released are refused: $(cat "$work/error")"
	elif diff -u <("$helm" template example "$released" --namespace operators | sed -n "$selector") <(sed -n "$selector" "$work/actual.yaml"); then
		pass
	else
		fail "the Deployment of $released has another selector"
	fi
}

for values in "$tests"/rendered/*.values.yaml; do
	check_rendered "$values"
done
for values in "$tests"/refused/*.values.yaml; do
	check_refused "$values"
done
check_webhooks
check_upgrade

echo "$(basename "$chart"): $passed checks passed, $failed failed"
((failed == 0))
