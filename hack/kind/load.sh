# Imports archives of images into the nodes. Sourced by cluster.sh.
# shellcheck shell=bash
: "${engine?}" "${control_plane?}"

# references ARCHIVE prints each image in an archive as NAME@DIGEST, with the digest of its configuration.
references() {
	{ tar -xOf "$1" ./manifest.json 2>/dev/null || tar -xOf "$1" manifest.json; } |
		jq -r '.[] | (.Config | match("[0-9a-f]{64}").string) as $digest | .RepoTags[] | "\(.)@sha256:\($digest)"'
}

# present NODE prints the images of a node in the same way. containerd lists an image by its names, and again by
# that digest.
present() {
	"$engine" exec "$1" ctr --namespace=k8s.io images ls | awk '
		NR == 1 { next }
		$1 ~ /^sha256:/ { configuration[$3] = $1; next }
		{ name[++count] = $1; manifest[count] = $3 }
		END { for (i = 1; i <= count; i++) print name[i] "@" configuration[manifest[i]] }'
}

# load_node NODE ARCHIVE... imports what the node does not have.
load_node() {
	local node=$1 archive there wanted said
	shift
	there=$(present "$node")
	for archive; do
		wanted=$(references "$archive")
		grep -qvxFf <(echo "$there") <<<"$wanted" || continue
		if ! said=$("$engine" exec --interactive "$node" ctr --namespace=k8s.io images import --digests=false - <"$archive" 2>&1); then
			refuse_engine "$archive cannot be imported into the node $node: $said"
		fi
		[[ $node != "$control_plane" ]] || sed 's/@.*//; s/^/loaded /' <<<"$wanted"
	done
}

load() {
	local archive node pids=()
	for archive; do
		[[ -r $archive ]] || refuse_engine "there is no archive $archive"
	done
	[[ -n $(nodes) ]] || refuse_engine 'no cluster of this checkout is running: start one with "make quickstart"'
	for node in $(nodes); do
		load_node "$node" "$@" &
		pids+=($!)
	done
	for node in "${pids[@]}"; do wait "$node"; done
}
