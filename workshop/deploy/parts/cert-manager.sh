# The API of cert-manager. No Go module contains its controller: the parts that need
# a certificate issue it and create the Secret.
# shellcheck shell=bash

deploy() {
	apply -f "$(module_dir custom-resources github.com/cert-manager/cert-manager)/deploy/crds"
}

await() { await_crd certificates.cert-manager.io issuers.cert-manager.io clusterissuers.cert-manager.io; }
