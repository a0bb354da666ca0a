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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controller"
)

// obstruction is a foreign object with a name that a control plane needs.
type obstruction struct {
	what              string
	condition, reason string
	name              string
	object            func(metav1.ObjectMeta) client.Object
}

// obstructions are in the order in which the way to Ready comes to them.
func obstructions() []obstruction {
	return []obstruction{
		{
			"the database's ExternalSecret",
			"DBCredentialsReady", "ExternalSecretError", "controlplane-keystone-db-credentials", theirExternalSecret,
		},
		{
			"the Secret of the database's credentials",
			"DBCredentialsReady", "ExternalSecretError", "controlplane-keystone-db-credentials", theirSecret,
		},
		{
			"the administrator's ExternalSecret",
			"AdminPasswordReady", "ExternalSecretError", "controlplane-keystone-admin-credentials", theirExternalSecret,
		},
		{
			"the Secret of the administrator's password",
			"AdminPasswordReady", "ExternalSecretError", "controlplane-keystone-admin-credentials", theirSecret,
		},
		{"the Secret of the password cloud", "KORCReady", "PasswordCloudError", "controlplane-admin-password-cloud", theirSecret},
		{"the Secret of the credential", "KORCReady", "SecretError", "controlplane-admin-app-credential", theirSecret},
		{"the import of the domain", "KORCReady", "AdminImportError", "controlplane-domain-default", theirDomain},
		{"the PushSecret of the credential", "KORCReady", "PushSecretError", "controlplane-admin-app-credential-backup", theirPushSecret},
		{"the ExternalSecret of the clouds.yaml", "KORCReady", "ExternalSecretError", "k-orc-clouds-yaml", theirExternalSecret},
		{"the Secret of the clouds.yaml", "KORCReady", "ExternalSecretError", "k-orc-clouds-yaml", theirSecret},
		{"the Role of a bootstrap resource", "KORCReady", "BootstrapResourceError", auditorObject, theirRole},
		{"the Service of Keystone in the catalog", "CatalogReady", "ServiceError", "controlplane-identity-service", theirService},
		{"the Endpoint of Keystone in the catalog", "CatalogReady", "EndpointError", "controlplane-identity-endpoint", theirEndpoint},
	}
}

// All objects are in the way of one control plane, which comes to one after another.
func TestAForeignObjectIsReportedUntilItIsDeleted(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.seed()
	c5c3v1alpha1.SetDefaults(w.cp)
	w.cp.Spec.KORC.AdminCredential.BootstrapResources = []c5c3v1alpha1.BootstrapResourceSpec{{Kind: "Role", Name: "auditor"}}
	var foreign []client.Object
	for _, tc := range obstructions() {
		theirs := tc.object(w.meta(tc.name))
		w.hold(t, theirs, standin.Hang())
		w.ownedBySomebody(t, theirs)
		objects.Create(t, w, theirs)
		foreign = append(foreign, theirs)
	}
	objects.Create(t, w, w.cp)
	w.report(t, "2025.2", "", true)
	for i, tc := range obstructions() {
		theirs := foreign[i]
		t.Log(tc.what)
		w.expect(t, tc.condition, metav1.ConditionFalse, tc.reason, tc.name, "rename or delete it")
		w.expect(t, "Stalled", metav1.ConditionTrue, tc.reason)
		w.isTheirs(t, theirs)
		objects.Delete(t, w, theirs)
		w.hold(t, theirs, standin.Succeed())
	}
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

// hold sets what K-ORC does with an object of its kinds: nothing, so that a foreign one
// can be deleted again.
func (w *world) hold(t *testing.T, obj client.Object, outcome standin.Outcome) {
	t.Helper()
	kind, err := w.GroupVersionKindFor(obj)
	if err != nil {
		t.Fatal(err)
	}
	if kind.Group == orcv1alpha1.GroupName {
		korc.Set(kind.Kind, w.cp.Namespace, obj.GetName(), outcome)
	}
}

// ownedBySomebody gives a Secret a controller: one without is adopted, as it may come
// from a backup.
func (w *world) ownedBySomebody(t *testing.T, obj client.Object) {
	t.Helper()
	if _, ok := obj.(*corev1.Secret); !ok {
		return
	}
	somebody := &corev1.ConfigMap{ObjectMeta: w.meta("owner-of-" + obj.GetName())}
	objects.Create(t, w, somebody)
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
