#!/usr/bin/env bash
# Makes the modules below agree on the version of each dependency that more than
# one of them has: the newest. go compiles a package once for all programs that
# use it, and all its imports, in the same version.
#
# Usage: align.sh [--check]
#   --check   changes nothing; prints the differences and fails if there are any
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

mapfile -t operators < <(hack/tools/operators.sh --programs)
modules=(internal/common "${operators[@]/#/operators/}" kubectl-forge hack/tools/kubernetes
	workshop/{memcached-operator,identityprovider,secretstore} workshop/tools/{local-path-provisioner,k-orc,mariadb-operator,metrics-server,external-secrets})

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GOWORK=off

# required prints path, version and go.mod of all dependencies, sorted. In place
# of its first "-" a version gets "~", which "sort" puts before the end of a line:
# v1.2.3-rc is older than v1.2.3.
required() {
	awk '$1 == "require" { sub("require ", "") } $2 ~ /^v[0-9]/ && !/=>/ && $1 != "exclude" {
		sub("-", "~", $2); print $1, $2, FILENAME }' "${modules[@]/%//go.mod}" |
		sort -k1,1 -k2,2V -k3,3
}

# behind prints the versions that are not the newest: path, version, go.mod and newest version.
behind() {
	required | tac | awk '$1 != path { path = $1; newest = $2 } $2 != newest { print $0, newest }' | tr '~' -
}

# raise MODULE ARGUMENT... edits its requirements. With an overlay the module that
# is actually built is the one to tidy.
raise() {
	local module=$1 args=() dependency
	shift
	if [[ -e $module/overlay/module ]]; then
		dependency=$(<"$module/overlay/module")
		hack/tools/overlay.sh "$module" "$work/${module##*/}"
		args=(-modfile="$work/${module##*/}/go.mod")
		go mod edit "$@" "$work/${module##*/}/go.mod"
		go mod tidy -C "$module" "${args[@]}"
		cp "$work/${module##*/}"/go.{mod,sum} "$module"
		go mod edit -dropreplace="$dependency" "$module/go.mod"
		go mod download -C "$module" "$dependency"
	else
		go mod edit "$@" "$module/go.mod"
		go mod tidy -C "$module"
	fi
}

if [[ ${1:-} == --check ]]; then
	behind >"$work/behind"
	[[ -s $work/behind ]] || exit 0
	awk '{ printf "%s: %s %s, newest %s\n", $3, $1, $2, $4 }' "$work/behind"
	echo "modules use different versions of shared dependencies: run hack/tools/align.sh" >&2
	exit 1
fi

# A raised dependency may require newer versions of others.
while behind >"$work/behind" && [[ -s $work/behind ]]; do
	while read -r module; do
		mapfile -t args < <(awk -v file="$module/go.mod" '$3 == file { print "-require=" $1 "@" $4 }' "$work/behind")
		echo "raising ${#args[@]} versions in $module"
		raise "$module" "${args[@]}"
	done < <(awk '{ sub("/go.mod", "", $3); print $3 }' "$work/behind" | sort -u)
done
