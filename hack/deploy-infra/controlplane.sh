# The bundled ControlPlane. Sourced by scripts that have chosen the cluster.
# shellcheck shell=bash
: "${root:?}" "${CONTROLPLANE_NAME:?}" "${HELMRELEASE_TIMEOUT:?}"

# controlplane_patch prints the patch of the manifest for the variables and the gateway.
controlplane_patch() {
	local gateway=$1
	jq -n --arg name "$CONTROLPLANE_NAME" --argjson db "$CONTROLPLANE_DB_REPLICAS" --argjson cache "$CONTROLPLANE_CACHE_REPLICAS" \
		--arg storage "$CONTROLPLANE_DB_STORAGE" --argjson gateway "$gateway" '{
			metadata: {name: $name},
			spec: {
				infrastructure: {database: {replicas: $db, storageSize: $storage}, cache: {replicas: $cache}},
				services: {keystone: (if $gateway then {gateway: {
					parentRef: {name: "openstack-gw"}, hostname: "keystone.127-0-0-1.nip.io", path: "/"}} else {} end)}}}'
}

# apply_controlplane GATEWAY applies the manifest, published through the Gateway
# with "true", and configures OpenBao to create users of its database once that
# exists.
apply_controlplane() {
	local manifest
	# The operators may still be starting if someone else installs them.
	retry "$HELMRELEASE_TIMEOUT" kubectl wait --for=condition=Established --timeout=10s crd/controlplanes.c5c3.io >/dev/null
	manifest=$(mktemp)
	kubectl patch --local -f "$root/deploy/controlplane/controlplane.yaml" --type=merge \
		-p "$(controlplane_patch "$1")" -o json >"$manifest"
	# The webhook answers only a moment after its pod is ready.
	retry "$POD_TIMEOUT" apply -f "$manifest"
	rm -f "$manifest"
	await_controlplane InfrastructureReady
	"$root/deploy/openbao/bootstrap/setup-database-tenant.sh" openstack "$CONTROLPLANE_NAME"
	await_controlplane Ready
	echo "ControlPlane openstack/$CONTROLPLANE_NAME is ready"
}

await_controlplane() {
	kubectl -n openstack wait "--for=condition=$1" "--timeout=${HELMRELEASE_TIMEOUT}s" \
		"controlplane.c5c3.io/$CONTROLPLANE_NAME" >/dev/null && return
	echo "ControlPlane openstack/$CONTROLPLANE_NAME is not $1; its conditions:" >&2
	kubectl -n openstack get controlplane.c5c3.io "$CONTROLPLANE_NAME" \
		-o 'jsonpath={range .status.conditions[*]}{.type}{" "}{.status}{" "}{.reason}{": "}{.message}{"\n"}{end}' >&2
	return 1
}

# refuse_owned_by_controlplane refuses if the database or the cache of the samples
# has the name of one that a ControlPlane has created: its size and its volume would change.
refuse_owned_by_controlplane() {
	local owned instead=
	owned=$(kubectl -n openstack get mariadb/openstack-db memcached/openstack-memcached --ignore-not-found \
		-o 'jsonpath={range .items[*]}{range .metadata.ownerReferences[?(@.kind=="ControlPlane")]}{.name}{"\n"}{end}{end}')
	[[ -n $owned ]] || return 0
	[[ $WITH_CONTROLPLANE == true ]] || instead='set WITH_CONTROLPLANE=true to leave them to it, or '
	refuse "the database and the cache in the namespace openstack belong to the ControlPlane ${owned%%$'\n'*}:" \
		"${instead}delete the ControlPlane first"
}
