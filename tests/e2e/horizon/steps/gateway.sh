# Says how a browser reaches the names behind the Gateway: sets RULES, where these are, and KEYS, the SHA-256 of the only
# public keys that it trusts, in base64.

# key_of NAMESPACE SECRET prints that of the certificate in the Secret.
key_of() {
	kubectl --namespace "$1" get secret "$2" --output=jsonpath='{.data.tls\.crt}' | base64 --decode |
		openssl x509 -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64
}

# port_of NAMESPACE SERVICE PORT prints the port of the node that leads there.
port_of() { kubectl --namespace "$1" get service "$2" --output=jsonpath="{.spec.ports[?(@.port==$3)].nodePort}"; }

# provider SERVICE PORT adds a Service of the test with its certificate in Secret SERVICE-tls.
provider() {
	kubectl --namespace "$NAMESPACE" patch service "$1" --patch '{"spec": {"type": "NodePort"}}' >/dev/null
	RULES="$RULES,MAP $1.$NAMESPACE.svc.cluster.local:$2 $node:$(port_of "$NAMESPACE" "$1" "$2")"
	KEYS="$KEYS,$(key_of "$NAMESPACE" "$1-tls")"
}

node=$(kubectl get nodes --output=jsonpath='{.items[0].status.addresses[?(@.type=="InternalIP")].address}')
RULES="MAP *.test.127-0-0-1.nip.io:443 $node:$(port_of traefik-system traefik 443)"
KEYS=$(key_of openstack keystone-nip-io-tls)
export RULES KEYS
