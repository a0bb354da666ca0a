# The objects that the sample Keystones refer to: a database, a cache, and Secrets
# with passwords from the secret store. A ControlPlane creates its own.
# shellcheck shell=bash
: "${root:?}" "${EXTERNALSECRET_TIMEOUT:?}" "${HELMRELEASE_TIMEOUT:?}"

namespace=openstack

# is_foreign NAME succeeds if the Secret exists and comes from no ExternalSecret, such
# as those of the quick start. Its database and its Keystone use their passwords, so
# they are kept, and the samples use them as well.
is_foreign() {
	local owner
	owner=$(kubectl -n "$namespace" get secret "$1" --ignore-not-found \
		-o 'jsonpath={.metadata.name}:{.metadata.ownerReferences[*].kind}')
	[[ -n $owner && $owner != "$1:ExternalSecret" ]]
}

# secrets prints the names of the Secrets to take from the secret store.
secrets() {
	local name
	for name in keystone-admin keystone-db; do
		if is_foreign "$name"; then
			echo "Secret $namespace/$name already exists and stays" >&2
		else
			echo "$name"
		fi
	done
}

deploy() { apply -f "$root/deploy/quickstart/namespace.yaml"; }

await() {
	local name names
	await_crd mariadbs.k8s.mariadb.com memcacheds.memcached.c5c3.io externalsecrets.external-secrets.io
	refuse_owned_by_controlplane
	apply -k "$root/deploy/local/database"
	apply -k "$root/deploy/kind/cache"
	mapfile -t names < <(secrets)
	for name in "${names[@]}"; do
		kubectl kustomize "$root/deploy/kind/secrets" | document "$name" | apply -f -
	done
	kubectl -n "$namespace" wait --for=condition=Ready "--timeout=${EXTERNALSECRET_TIMEOUT}s" \
		externalsecret/mariadb-root-password "${names[@]/#/externalsecret/}" >/dev/null
	kubectl -n "$namespace" wait --for=condition=Ready "--timeout=${HELMRELEASE_TIMEOUT}s" \
		mariadb/openstack-db memcached/openstack-memcached >/dev/null
}

# document NAME prints the object of that name.
document() { awk -v name="  name: $1" 'BEGIN { RS = "---\n" } index($0, "\nmetadata:\n" name "\n")'; }
