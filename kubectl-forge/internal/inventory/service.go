package inventory

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/release"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
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

// ServiceKind describes a kind of API service. Everything that concerns all services
// loops over [ServiceKinds].
type ServiceKind struct {
	schema.GroupVersionKind
	AddToScheme func(*runtime.Scheme) error
	// Empty returns an object to read into, and List a list.
	Empty func() Resource
	List  func() client.ObjectList
	// SelectorLabels select the API pods of the instance with the name.
	SelectorLabels func(name string) map[string]string
	// TaskName is the label app.kubernetes.io/name of the pods of its Jobs.
	TaskName string
	// Vocabularies list the kind's conditions.
	Vocabularies func() []vocabulary.Kind
	// SLURP reports whether an upgrade may skip a release as [release.Toward] describes.
	SLURP bool
}

// ServiceKinds are the kinds of API services, in the order in which they are shown.
var ServiceKinds = []*ServiceKind{
	{
		GroupVersionKind: keystonev1alpha1.GroupVersion.WithKind(KindKeystone), AddToScheme: keystonev1alpha1.AddToScheme,
		Empty:          func() Resource { return &keystonev1alpha1.Keystone{} },
		List:           func() client.ObjectList { return &keystonev1alpha1.KeystoneList{} },
		SelectorLabels: keystonev1alpha1.SelectorLabels, TaskName: keystonev1alpha1.TaskName,
		Vocabularies: keystonev1alpha1.Vocabularies, SLURP: keystonev1alpha1.SLURP,
	},
	{
		GroupVersionKind: placementv1alpha1.GroupVersion.WithKind(KindPlacement), AddToScheme: placementv1alpha1.AddToScheme,
		Empty:          func() Resource { return &placementv1alpha1.Placement{} },
		List:           func() client.ObjectList { return &placementv1alpha1.PlacementList{} },
		SelectorLabels: placementv1alpha1.SelectorLabels, TaskName: placementv1alpha1.TaskName,
		Vocabularies: placementv1alpha1.Vocabularies, SLURP: placementv1alpha1.SLURP,
	},
}

// ServiceKindOf returns the kind with the name, nil when it is not one of an API service.
func ServiceKindOf(kind string) *ServiceKind {
	i := slices.IndexFunc(ServiceKinds, func(k *ServiceKind) bool { return k.Kind == kind })
	if i < 0 {
		return nil
	}
	return ServiceKinds[i]
}

// TargetKinds are the kinds that can be the target of a command.
func TargetKinds() []schema.GroupVersionKind {
	kinds := make([]schema.GroupVersionKind, 0, len(ServiceKinds)+1)
	kinds = append(kinds, c5c3v1alpha1.GroupVersion.WithKind(KindControlPlane))
	for _, kind := range ServiceKinds {
		kinds = append(kinds, kind.GroupVersionKind)
	}
	return kinds
}

// OperatorOf is the name under which the chart installs the operator of a kind.
func OperatorOf(kind string) string {
	if kind == KindControlPlane {
		return "c5c3-operator"
	}
	return strings.ToLower(kind) + "-operator"
}

// Informational are the types of the conditions that do not affect Ready.
func (k *ServiceKind) Informational() []string {
	var types []string
	for _, kind := range k.Vocabularies() {
		for _, condition := range kind.Conditions {
			if kind.Kind == k.Kind && !condition.Aggregated && !slices.Contains(Summaries, condition.Type) {
				types = append(types, condition.Type)
			}
		}
	}
	return types
}

// Summaries are conditions that only repeat others. All operators use the same names.
var Summaries = []string{vocabulary.ConditionReady, vocabulary.ConditionReconciling, vocabulary.ConditionStalled}

// Conditioned is an object of one of the operators' kinds.
type Conditioned interface {
	client.Object
	GetConditions() []metav1.Condition
}

// IsCurrent reports whether the conditions of a ControlPlane or a service are about its spec, and it is not being
// deleted.
func IsCurrent(obj Conditioned) bool { return IsObserved(obj) && obj.GetDeletionTimestamp() == nil }

// IsObserved reports whether the operator has observed the spec of a ControlPlane or a service.
func IsObserved(obj Conditioned) bool {
	switch obj := obj.(type) {
	case *c5c3v1alpha1.ControlPlane:
		return obj.Status.ObservedGeneration == obj.Generation
	case Resource:
		return obj.ServiceStatus().ObservedGeneration == obj.GetGeneration()
	}
	return false
}

// Resource is an object of a kind of API service.
type Resource interface {
	Conditioned
	ServiceSpec() *commonv1.ServiceSpec
	ServiceStatus() *commonv1.ServiceStatus
}

// Service is an instance of an API service, such as a Keystone.
type Service struct {
	Resource
	Of *ServiceKind
}

// Ref returns the reference to the service.
func (s Service) Ref() Ref { return Ref{s.Of.Kind, s.GetNamespace(), s.GetName()} }

// SameRelease reports whether two image tags belong to the same release. Tags that are
// no releases do not.
func SameRelease(a, b string) bool {
	x, errX := release.Parse(a)
	y, errY := release.Parse(b)
	return errX == nil && errY == nil && x.SameRelease(y)
}

// TargetForms lists how a target can be written.
func TargetForms() string {
	var forms strings.Builder
	for _, kind := range TargetKinds() {
		forms.WriteString(strings.ToLower(kind.Kind) + "/NAME, ")
	}
	return strings.TrimSuffix(forms.String(), ", ") + " or NAME"
}

// ForeignKinds are the namespaced kinds of other projects that a ControlPlane or
// a Keystone is made of.
var ForeignKinds = slices.Concat(
	ofGroup("k8s.mariadb.com", "MariaDB", "Database", "User", "Grant"), ofGroup("memcached.c5c3.io", "Memcached"),
	ofGroup("external-secrets.io", "ExternalSecret", "PushSecret"),
	ofGroup("openstack.k-orc.cloud", "ApplicationCredential", "Domain", "User", "Service", "Endpoint", "Project", "Role"),
	ofGroup("cert-manager.io", "Certificate"), ofGroup("gateway.networking.k8s.io", "HTTPRoute"),
)

func ofGroup(group string, kinds ...string) []schema.GroupKind {
	all := make([]schema.GroupKind, 0, len(kinds))
	for _, kind := range kinds {
		all = append(all, schema.GroupKind{Group: group, Kind: kind})
	}
	return all
}

// Conditions returns the conditions in the status of an object of any kind.
func Conditions(obj *unstructured.Unstructured) []metav1.Condition {
	type conditioned struct {
		Conditions []metav1.Condition `json:"conditions"`
		// Parents are those of an HTTPRoute, each of which has conditions.
		Parents []struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"parents"`
	}
	var decoded struct {
		Status conditioned `json:"status"`
	}
	content := map[string]any{"status": obj.Object["status"]}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &decoded); err != nil {
		return nil
	}
	if len(decoded.Status.Parents) > 0 {
		return decoded.Status.Parents[0].Conditions
	}
	return decoded.Status.Conditions
}

// Availability returns the condition that says whether an object can be used, nil when its
// operator has not observed it yet. The kinds of other projects name it differently.
func Availability(conditions []metav1.Condition) *metav1.Condition {
	for _, wanted := range []string{vocabulary.ConditionReady, "Available", "Accepted"} {
		if n := slices.IndexFunc(conditions, func(c metav1.Condition) bool { return c.Type == wanted }); n >= 0 {
			return &conditions[n]
		}
	}
	return nil
}
