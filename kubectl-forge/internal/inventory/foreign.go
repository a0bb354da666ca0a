package inventory

import (
	"encoding/json"
	"slices"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Groups of the projects whose kinds the operators use.
const (
	GroupMariaDB         = "k8s.mariadb.com"
	GroupMemcached       = "memcached.c5c3.io"
	GroupExternalSecrets = esov1.Group
	GroupKORC            = "openstack.k-orc.cloud"
	GroupCertManager     = "cert-manager.io"
	GroupGatewayAPI      = "gateway.networking.k8s.io"
)

// StoreKind is the kind of the secret store that the platform uses.
var StoreKind = schema.GroupKind{Group: GroupExternalSecrets, Kind: esov1.ClusterSecretStoreKind}

// ForeignKinds are the namespaced kinds of other projects that a ControlPlane or
// a Keystone is made of.
var ForeignKinds = []schema.GroupKind{
	{Group: GroupMariaDB, Kind: "MariaDB"},
	{Group: GroupMariaDB, Kind: "Database"},
	{Group: GroupMariaDB, Kind: "User"},
	{Group: GroupMariaDB, Kind: "Grant"},
	{Group: GroupMemcached, Kind: "Memcached"},
	{Group: GroupExternalSecrets, Kind: "ExternalSecret"},
	{Group: GroupExternalSecrets, Kind: "PushSecret"},
	{Group: GroupKORC, Kind: "ApplicationCredential"},
	{Group: GroupKORC, Kind: "Domain"},
	{Group: GroupKORC, Kind: "User"},
	{Group: GroupKORC, Kind: "Service"},
	{Group: GroupKORC, Kind: "Endpoint"},
	{Group: GroupKORC, Kind: "Project"},
	{Group: GroupKORC, Kind: "Role"},
	{Group: GroupCertManager, Kind: "Certificate"},
	{Group: GroupGatewayAPI, Kind: "HTTPRoute"},
}

// Conditions returns the conditions in the status of an object of any kind.
func Conditions(obj *unstructured.Unstructured) []metav1.Condition {
	status, _, err := unstructured.NestedMap(obj.Object, "status")
	if err != nil {
		return nil
	}
	// Those of an HTTPRoute belong to one of its parents.
	if parents, _, err := unstructured.NestedSlice(status, "parents"); err == nil && len(parents) > 0 {
		if parent, isMap := parents[0].(map[string]any); isMap {
			status = parent
		}
	}
	return decodeConditions(status["conditions"])
}

func decodeConditions(conditions any) []metav1.Condition {
	encoded, err := json.Marshal(map[string]any{"conditions": conditions})
	if err != nil {
		return nil
	}
	var decoded struct {
		Conditions []metav1.Condition `json:"conditions"`
	}
	if err := json.Unmarshal(encoded, &decoded); err != nil {
		return nil
	}
	return decoded.Conditions
}

// availability are the conditions by which the kinds of other projects say that
// an object can be used, in the order in which they count.
var availability = []string{"Ready", "Available", "Accepted"}

// Availability returns the condition that says whether the object can be used,
// nil when its operator has not observed it yet.
func Availability(obj *unstructured.Unstructured) *metav1.Condition {
	conditions := Conditions(obj)
	for _, wanted := range availability {
		if n := slices.IndexFunc(conditions, func(c metav1.Condition) bool { return c.Type == wanted }); n >= 0 {
			return &conditions[n]
		}
	}
	return nil
}
