# The API of cert-manager. Its controller is in no module that can be fetched:
# whoever needs a certificate issues it and creates the Secret.
# shellcheck shell=bash

deploy() {
	apply -f "$(module_dir custom-resources github.com/cert-manager/cert-manager)/deploy/crds"
}

await() { await_crd certificates.cert-manager.io issuers.cert-manager.io clusterissuers.cert-manager.io; }
