// Modules of which only the CustomResourceDefinitions are used.
module github.com/c5c3/forge/hack/tools/custom-resources

go 1.26.0

require (
	github.com/cert-manager/cert-manager v1.20.2
	github.com/controlplaneio-fluxcd/flux-operator v0.53.0
	github.com/envoyproxy/gateway v1.9.1
	sigs.k8s.io/gateway-api v1.6.1
)
