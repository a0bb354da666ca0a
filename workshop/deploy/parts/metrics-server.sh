# metrics-server: the metrics that autoscalers use.
# shellcheck shell=bash

namespace=kube-system

deploy() {
	local module
	module=$(module_dir metrics-server sigs.k8s.io/metrics-server)
	install_chart metrics-server "$namespace" "$module/charts/metrics-server"
}

await() {
	await_rollout "$namespace" deployment/metrics-server
	kubectl wait --for=condition=Available --timeout=60s apiservice/v1beta1.metrics.k8s.io >/dev/null
}
