//go:build integration

package controller_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/c5c3/forge/internal/common/testutil/conformance"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/operators/c5c3/internal/controller"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// obstructions are foreign objects in the way of a control plane with a bootstrap resource.
func obstructions(t *testing.T, namespace string) []conformance.Obstruction {
	t.Helper()
	var all []conformance.Obstruction
	for _, o := range []struct {
		condition, reason, name string
		object                  func(metav1.ObjectMeta) client.Object
	}{
		// They are in the order in which the way to Ready comes to them.
		{"InfrastructureReady", "MemcachedError", "openstack-memcached.clients", theirNetworkPolicy},
		{"DBCredentialsReady", "ExternalSecretError", "controlplane-keystone-db-credentials", theirExternalSecret},
		{"DBCredentialsReady", "ExternalSecretError", "controlplane-keystone-db-credentials", theirSecret},
		{"AdminPasswordReady", "ExternalSecretError", "controlplane-keystone-admin-credentials", theirExternalSecret},
		{"AdminPasswordReady", "ExternalSecretError", "controlplane-keystone-admin-credentials", theirSecret},
		{"KeystoneReady", "KeystoneError", "controlplane-keystone", theirKeystone},
		{"KORCReady", "PasswordCloudError", "controlplane-admin-password-cloud", theirSecret},
		{"KORCReady", "SecretError", "controlplane-admin-app-credential", theirSecret},
		{"KORCReady", "AdminImportError", "controlplane-domain-default", theirDomain},
		{"KORCReady", "PushSecretError", "controlplane-admin-app-credential-backup", theirPushSecret},
		{"KORCReady", "ExternalSecretError", "k-orc-clouds-yaml", theirExternalSecret},
		{"KORCReady", "ExternalSecretError", "k-orc-clouds-yaml", theirSecret},
		{"KORCReady", "BootstrapResourceError", auditorObject, theirRole},
		{"CatalogReady", "ServiceError", "controlplane-identity-service", theirService},
		{"CatalogReady", "EndpointError", "controlplane-identity-endpoint", theirEndpoint},
	} {
		theirs := o.object(metav1.ObjectMeta{Namespace: namespace, Name: o.name})
		hold(t, theirs, standin.Hang())
		ownedBySomebody(t, theirs)
		all = append(all, conformance.Obstruction{
			Object: theirs, Condition: o.condition, Reason: o.reason, Removed: func() { hold(t, theirs, standin.Succeed()) },
		})
	}
	return all
}

// hold sets what K-ORC does with an object of its kinds: nothing, so that a foreign one
// can be deleted again.
func hold(t *testing.T, obj client.Object, outcome standin.Outcome) {
	t.Helper()
	kind, err := conform.Admin.GroupVersionKindFor(obj)
	if err != nil {
		t.Fatal(err)
	}
	if kind.Group == orcv1alpha1.GroupName {
		korc.Set(kind.Kind, obj.GetNamespace(), obj.GetName(), outcome)
	}
}

// ownedBySomebody gives a Secret a controller: one without is adopted, as it may come
// from a backup.
func ownedBySomebody(t *testing.T, obj client.Object) {
	t.Helper()
	if _, ok := obj.(*corev1.Secret); !ok {
		return
	}
	somebody := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: obj.GetNamespace(), GenerateName: "owner-"}}
	objects.Create(t, conform.Admin, somebody)
	if err := controllerutil.SetControllerReference(somebody, obj, controller.Scheme()); err != nil {
		t.Fatal(err)
	}
}

// isTheirs fails if the operator has adopted the object.
func (w *world) isTheirs(t *testing.T, obj client.Object) {
	t.Helper()
	uid := obj.GetUID()
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
		t.Fatal(err)
	}
	if obj.GetUID() != uid || metav1.IsControlledBy(obj, w.cp) || obj.GetLabels()["app.kubernetes.io/managed-by"] != "" {
		t.Errorf("the operator has taken it: %+v", obj)
	}
}

// auditorObject is the name of the object of the bootstrap resource Role auditor.
var auditorObject = "controlplane-role-" + shortHash("Role/auditor")

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:8]
}

func theirSecret(meta metav1.ObjectMeta) client.Object {
	return &corev1.Secret{ObjectMeta: meta, StringData: map[string]string{"theirs": "kept"}}
}

func theirExternalSecret(meta metav1.ObjectMeta) client.Object {
	return &esov1.ExternalSecret{ObjectMeta: meta, Spec: esov1.ExternalSecretSpec{
		SecretStoreRef: esov1.SecretStoreRef{Name: "theirs"}, Target: esov1.ExternalSecretTarget{Name: "theirs"},
	}}
}

func theirPushSecret(meta metav1.ObjectMeta) client.Object {
	return &esov1alpha1.PushSecret{ObjectMeta: meta, Spec: esov1alpha1.PushSecretSpec{
		SecretStoreRefs: []esov1alpha1.PushSecretStoreRef{{Name: "theirs"}},
		Selector:        esov1alpha1.PushSecretSelector{Secret: &esov1alpha1.PushSecretSecret{Name: "theirs"}},
	}}
}

var theirCloud = orcv1alpha1.CloudCredentialsReference{SecretName: "theirs", CloudName: "theirs"}

func theirDomain(meta metav1.ObjectMeta) client.Object {
	return &orcv1alpha1.Domain{ObjectMeta: meta, Spec: orcv1alpha1.DomainSpec{
		CloudCredentialsRef: theirCloud, ManagementPolicy: orcv1alpha1.ManagementPolicyManaged,
		Resource: &orcv1alpha1.DomainResourceSpec{},
	}}
}

func theirRole(meta metav1.ObjectMeta) client.Object {
	return &orcv1alpha1.Role{ObjectMeta: meta, Spec: orcv1alpha1.RoleSpec{
		CloudCredentialsRef: theirCloud, ManagementPolicy: orcv1alpha1.ManagementPolicyManaged, Resource: &orcv1alpha1.RoleResourceSpec{},
	}}
}

func theirService(meta metav1.ObjectMeta) client.Object {
	return &orcv1alpha1.Service{ObjectMeta: meta, Spec: orcv1alpha1.ServiceSpec{
		CloudCredentialsRef: theirCloud, ManagementPolicy: orcv1alpha1.ManagementPolicyManaged,
		Resource: &orcv1alpha1.ServiceResourceSpec{Type: "identity"},
	}}
}

func theirEndpoint(meta metav1.ObjectMeta) client.Object {
	return &orcv1alpha1.Endpoint{ObjectMeta: meta, Spec: orcv1alpha1.EndpointSpec{
		CloudCredentialsRef: theirCloud, ManagementPolicy: orcv1alpha1.ManagementPolicyManaged,
		Resource: &orcv1alpha1.EndpointResourceSpec{Interface: "public", URL: "http://theirs.example.com", ServiceRef: "theirs"},
	}}
}

func theirNetworkPolicy(meta metav1.ObjectMeta) client.Object {
	return &networkingv1.NetworkPolicy{ObjectMeta: meta}
}

func theirKeystone(meta metav1.ObjectMeta) client.Object {
	return &keystonev1alpha1.Keystone{ObjectMeta: meta, Spec: keystonev1alpha1.KeystoneSpec{
		ServiceSpec: commonv1.ServiceSpec{
			Image: commonv1.ImageSpec{Repository: "example.com/keystone", Tag: "2025.1"},
			Cache: commonv1.CacheSpec{Servers: []string{"memcached"}},
		},
		DataSpec: commonv1.DataSpec{
			Database: commonv1.DatabaseSpec{Host: "db", Database: "keystone", SecretRef: commonv1.SecretRefSpec{Name: "db"}},
		},
		Bootstrap: keystonev1alpha1.BootstrapSpec{AdminPasswordSecretRef: commonv1.SecretRefSpec{Name: "admin"}},
	}}
}
