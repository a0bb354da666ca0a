package types

import "strings"

// GatewaySpec publishes a service's API under a host name through a Gateway
// that already exists.
type GatewaySpec struct {
	// parentRef names the Gateway the route attaches to.
	//
	// +required
	ParentRef GatewayParentRefSpec `json:"parentRef"`

	// hostname is the name clients use in the URL and in TLS. Example:
	// "api.example.com".
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Hostname string `json:"hostname"`

	// path is the prefix of the URL path that is routed to the service. When
	// it is not set, "/" is used. The route removes it from the requests, unless
	// it is a path of the API itself, such as "/v3" of the Identity service.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^[-A-Za-z0-9/._~!$&'()*+,;=:@%]*$`
	Path string `json:"path,omitempty"`

	// annotations are copied to the HTTPRoute, for settings of the Gateway's
	// implementation. Example: {"konghq.com/plugins": "rate-limit"}.
	//
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// RoutedPath returns the prefix of the paths that are routed to the service, with a leading
// slash.
func (g *GatewaySpec) RoutedPath() string { return "/" + strings.TrimLeft(g.Path, "/") }

// Prefix returns what the public URL has in front of an API that begins at the path, such as
// "/identity" in front of "/v3". The route removes it. It is empty if what is routed is a
// part of the API itself.
func (g *GatewaySpec) Prefix(api string) string {
	prefix := strings.TrimRight(g.RoutedPath(), "/")
	if strings.HasPrefix(api+"/", prefix+"/") {
		return ""
	}
	return prefix
}

// GatewayParentRefSpec points to a Gateway or to one of its listeners.
type GatewayParentRefSpec struct {
	// name is the name of the Gateway. Example: "public-gateway".
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// namespace is the Gateway's namespace. When it is not set, it is the
	// namespace of the resource itself; the listener must allow routes from
	// there.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// sectionName selects one listener of the Gateway. When it is not set, the
	// route attaches to every listener that accepts it. Example: "https".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	SectionName string `json:"sectionName,omitempty"`
}
