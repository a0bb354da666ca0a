package types

import (
	"cmp"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
)

// ProxyAdvice returns advice if networkPolicy only admits the namespace of the Gateway,
// "" otherwise. Many implementations run the proxies of a Gateway in a separate
// namespace, which no object names. namespace is that of the resource.
func (s *ServiceSpec) ProxyAdvice(namespace string) string {
	if s.Gateway == nil || s.NetworkPolicy == nil {
		return ""
	}
	gateway := cmp.Or(s.Gateway.ParentRef.Namespace, namespace)
	own := map[string]string{corev1.LabelMetadataName: gateway}
	for _, source := range s.NetworkPolicy.Ingress {
		if !maps.Equal(source.NamespaceSelector, own) {
			return ""
		}
	}
	return fmt.Sprintf("spec.networkPolicy.ingress admits only namespace %s of the Gateway: "+
		"if the proxies of the Gateway run in another namespace, add that namespace to spec.networkPolicy.ingress", gateway)
}
