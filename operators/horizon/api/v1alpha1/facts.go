package v1alpha1

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// APIPort is where the Service and the pods of a Horizon listen.
const APIPort = 8080

// FederatedLoginPath is where Keystone sends a browser after a login at a provider.
const FederatedLoginPath = "/auth/websso/"

// Kind is the name of the kind.
const Kind = "Horizon"

// Values of app.kubernetes.io/name on the pods that serve pages and on the pods of Jobs.
const (
	AppName  = "horizon"
	TaskName = "horizon-task"
)

// The Secret with the key that signs cookies.
const (
	// SecretKeyEntry is the default key in the Secret.
	SecretKeyEntry = "secret-key"
	// MinSecretKey is the least number of characters, as Django recommends
	// (https://docs.djangoproject.com/en/stable/ref/checks/#security, security.W009).
	MinSecretKey = 50
)

// SecretKeyName returns the name of the Secret with the key that the operator generates.
func SecretKeyName(name string) string { return name + "-secret-key" }

// InternalEndpoint returns the URL of a Horizon inside the cluster.
func InternalEndpoint(c cluster.Settings, namespace, name string) string {
	return fmt.Sprintf("http://%s:%d", c.ServiceHost(name, namespace), APIPort)
}

// GatewayEndpoint returns the URL of a Horizon that a Gateway publishes.
func GatewayEndpoint(gateway *commonv1.GatewaySpec) string { return "https://" + gateway.Hostname }

// SelectorLabels returns the labels that select the pods of the Horizon with the given name
// that serve pages and no other pod.
func SelectorLabels(name string) map[string]string {
	return map[string]string{"app.kubernetes.io/name": AppName, "app.kubernetes.io/instance": name}
}

// PodSelector returns what selects the pods of all Horizons, those of Jobs among them, and
// no other pod.
func PodSelector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: "app.kubernetes.io/name", Operator: metav1.LabelSelectorOpIn, Values: []string{AppName, TaskName},
	}}}
}
