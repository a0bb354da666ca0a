package inventory

import (
	"net"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// Kinds of the objects that commands work on.
const (
	KindControlPlane = "ControlPlane"
	KindKeystone     = "Keystone"
	KindPlacement    = "Placement"
)

// Ref names a ControlPlane or a service.
type Ref struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// Arg returns the reference in the form that the commands accept.
func (r Ref) Arg() string { return strings.ToLower(r.Kind) + "/" + r.Name }

// Key returns the reference as the key of an object.
func (r Ref) Key() client.ObjectKey { return client.ObjectKey{Namespace: r.Namespace, Name: r.Name} }

// PlaneRef returns the reference to a ControlPlane.
func PlaneRef(cp *c5c3v1alpha1.ControlPlane) Ref { return Ref{KindControlPlane, cp.Namespace, cp.Name} }

// TargetKinds are the kinds that can be the target of a command.
func TargetKinds() []schema.GroupVersionKind {
	kinds := make([]schema.GroupVersionKind, 0, len(ServiceKinds)+1)
	kinds = append(kinds, c5c3v1alpha1.GroupVersion.WithKind(KindControlPlane))
	for _, kind := range ServiceKinds {
		kinds = append(kinds, kind.GroupVersionKind)
	}
	return kinds
}

// CommonOperator is the name of the chart of the program that runs the operators of all services.
const CommonOperator = "openstack-operator"

// OperatorOf is the name under which the chart installs the operator of a kind.
func OperatorOf(kind string) string {
	if kind == KindControlPlane {
		return "c5c3-operator"
	}
	return strings.ToLower(kind) + "-operator"
}

// TargetForms lists how a target can be written.
func TargetForms() string {
	var forms strings.Builder
	for _, kind := range TargetKinds() {
		forms.WriteString(strings.ToLower(kind.Kind) + "/NAME, ")
	}
	return strings.TrimSuffix(forms.String(), ", ") + " or NAME"
}

// ServiceOf returns the Service that a host name stands for inside the cluster: NAME, which is
// in the namespace, or NAME.NAMESPACE.svc with or without the cluster's domain. Every other host
// is outside, as far as its name shows.
func ServiceOf(host, namespace string) (types.NamespacedName, bool) {
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	switch {
	case host == "" || host == "localhost" || net.ParseIP(host) != nil:
		return types.NamespacedName{}, false
	case len(labels) == 1:
		return types.NamespacedName{Namespace: namespace, Name: labels[0]}, true
	case len(labels) >= 3 && labels[2] == "svc":
		return types.NamespacedName{Namespace: labels[1], Name: labels[0]}, true
	}
	return types.NamespacedName{}, false
}
