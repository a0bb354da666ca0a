# What deploy-infra has deployed, and what belongs to others. Its mark is the field manager
# with which it applies objects. Sourced after flux.sh.
# shellcheck shell=bash
: "${root:?}" "${base:?}" "${infrastructure:?}"

manager=deploy-infra

# objects FOLDER prints for each object in a folder its kind, with version and group, its
# name, its namespace and, for a release, the Helm release that it makes and where.
objects() {
	kubectl kustomize "$1" | awk '
		function flush(   parts, type) {
			split(version, parts, "/")
			type = parts[2] == "" ? kind : kind "." parts[2] "." parts[1]
			if (kind != "") print type, name, namespace == "" ? "-" : namespace, release == "" ? "-" : release, target == "" ? "-" : target
			version = kind = name = namespace = release = target = ""
		}
		/^---/ { flush(); next }
		/^[a-zA-Z]/ { section = $1 }
		/^apiVersion: / { version = $2 }
		/^kind: / { kind = $2 }
		section == "metadata:" && /^  name: / { name = $2 }
		section == "metadata:" && /^  namespace: / { namespace = $2 }
		section == "spec:" && /^  releaseName: / { release = $2 }
		section == "spec:" && /^  targetNamespace: / { target = $2 }
		END { flush() }'
}

# managers TYPE NAME NAMESPACE prints who manages fields of an object, nothing if it does
# not exist or if its kind does not.
managers() {
	local errors place=()
	[[ $3 == - ]] || place=(-n "$3")
	errors=$(mktemp)
	scratch+=("$errors")
	kubectl get "$1" "$2" "${place[@]}" --ignore-not-found --show-managed-fields \
		-o 'jsonpath={.metadata.managedFields[*].manager}' 2>"$errors" && return
	grep -q -e "have a resource type" -e 'no matches for kind' "$errors" && return
	cat "$errors" >&2
	return 1
}

is_ours() { [[ " $1 " == *" $manager "* ]]; }

# foreign FOLDER prints what others have deployed under the names in a folder: objects, and
# Helm releases, which a release of Flux would take over and, when it is deleted, uninstall.
foreign() {
	local type name namespace release target found
	while read -r type name namespace release target; do
		found=$(managers "$type" "$name" "$namespace")
		if [[ -n $found ]]; then
			is_ours "$found" || printf '%s %s\n' "$type" "$name"
		elif [[ $release != - && -n $(kubectl -n "$target" get secrets -l "owner=helm,name=$release" -o name) ]]; then
			printf 'Helm release %s/%s\n' "$target" "$release"
		fi
	done < <(objects "$1")
}

# refuse_foreign refuses a cluster in which something that would be deployed belongs to
# others, before anything is changed.
refuse_foreign() {
	local folder found
	found=$(for folder in "$base" "$infrastructure"; do foreign "$root/$folder"; done)
	[[ -z $found ]] || refuse "others have deployed these to the cluster, where deploy-infra would replace them: ${found//$'\n'/, };" \
		'leave them out in an overlay of your own (docs/deploy-infra.md)'
	[[ $WITH_CONTROLPLANE_CR == true ]] || return 0
	found=$(managers controlplanes.c5c3.io "$CONTROLPLANE_NAME" openstack)
	[[ -z $found ]] || is_ours "$found" || refuse "others manage the ControlPlane openstack/$CONTROLPLANE_NAME," \
		'which deploy-infra would change: leave WITH_CONTROLPLANE_CR out'
}

# remove FOLDER deletes the objects in it that deploy-infra has deployed.
remove() {
	local type name namespace release target found place
	while read -r type name namespace release target; do
		found=$(managers "$type" "$name" "$namespace")
		[[ -n $found ]] || continue
		if ! is_ours "$found"; then
			echo "$type $name stays: deploy-infra has not deployed it"
			continue
		fi
		place=()
		[[ $namespace == - ]] || place=(-n "$namespace")
		kubectl delete "$type" "$name" "${place[@]}" --ignore-not-found "--timeout=${HELMRELEASE_TIMEOUT}s"
	done < <(objects "$1")
}
