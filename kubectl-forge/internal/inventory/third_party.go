package inventory

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/c5c3/forge/internal/common/vocabulary"
)

// ThirdPartyKinds are the namespaced kinds of other projects that a ControlPlane or
// a Keystone is made of.
var ThirdPartyKinds = slices.Concat(
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
