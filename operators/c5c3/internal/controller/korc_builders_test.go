package controller

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/testutil/golden"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
)

// narrow is a control plane with everything about K-ORC set.
func narrow() *c5c3v1alpha1.ControlPlane {
	cp := complete()
	credential := &cp.Spec.KORC.AdminCredential
	credential.CloudCredentialsRef = c5c3v1alpha1.CloudCredentialsRef{CloudName: "eu", SecretName: "clouds"}
	credential.ApplicationCredential.Restricted = new(false)
	credential.ApplicationCredential.AccessRules = []c5c3v1alpha1.AccessRule{
		{Service: "compute", Method: "GET", Path: "/v2.1/servers"}, {Service: "image"},
	}
	credential.BootstrapResources = []c5c3v1alpha1.BootstrapResourceSpec{
		{Kind: "Project", Name: "Shared Services"}, {Kind: "Role", Name: "auditor"},
	}
	return cp
}

func TestWhatAControlPlaneAsksOfKORC(t *testing.T) {
	for name, cp := range map[string]*c5c3v1alpha1.ControlPlane{"minimal": minimal(), "complete": narrow()} {
		credential := applicationCredential(cp, credentialName(cp, "s3cret"), map[string]string{"a": "b"})
		golden.CompareYAML(t, name+"/applicationcredential.yaml", credential)
		golden.CompareYAML(t, name+"/superseded.yaml", supersededCredential(cp, credential))
		golden.CompareYAML(t, name+"/domain.yaml", domainImport(cp, userCloud(cp)))
		golden.CompareYAML(t, name+"/user.yaml", userImport(cp, userCloud(cp)))
		golden.CompareYAML(t, name+"/service.yaml", identityService(cp))
		golden.CompareYAML(t, name+"/endpoint.yaml", identityEndpoint(cluster.Settings{}, cp))
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: cp.ApplicationCredentialName(), UID: "uid"}, Data: map[string][]byte{"value": []byte("v")},
		}
		push := credentialPush(cluster.Settings{}, cp, secret)
		golden.CompareYAML(t, name+"/pushsecret.yaml", push)
		golden.CompareYAML(t, name+"/clouds-externalsecret.yaml", cloudsDelivery(cluster.Settings{}, cp, secret, push))
	}
	for _, resource := range narrow().Spec.KORC.AdminCredential.BootstrapResources {
		golden.CompareYAML(t, "complete/bootstrap-"+resource.Kind+".yaml", bootstrapResource(narrow(), resource))
	}
}

func TestWhatAPlacementGetsInKeystone(t *testing.T) {
	for name, cp := range map[string]*c5c3v1alpha1.ControlPlane{"minimal": withPlacement(), "complete": complete()} {
		golden.CompareYAML(t, name+"/placement-service.yaml", placementService.catalogService(cp))
		golden.CompareYAML(t, name+"/placement-endpoint.yaml",
			placementService.catalogEndpoint(placementService.endpoints[0], cluster.Settings{}, cp))
	}
	cp := withPlacement()
	login := loginSecret(cp, placementService, "s3cret")
	golden.CompareYAML(t, "minimal/placement-login.yaml", login)
	golden.CompareYAML(t, "minimal/placement-user.yaml", userOf(cp, placementService, login))
}

func TestTheHashOfACloudsYamlTellsNothingToThoseWhoSeeNoSecret(t *testing.T) {
	hash := func(uid types.UID, text string) string {
		source := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{UID: uid}, Data: map[string][]byte{clouds.Key: []byte(text)}}
		push := credentialPush(cluster.Settings{}, minimal(), source)
		return cloudsDelivery(cluster.Settings{}, minimal(), source, push).Annotations[annotationForceSync]
	}
	if hash("a", "s3cret") == hash("b", "s3cret") {
		t.Error("whoever sees the hash can try out passwords")
	}
	if hash("a", "s3cret") == hash("a", "another") {
		t.Error("another text has the same hash")
	}
}

func TestASupersededCredentialIsNeverMadeAnew(t *testing.T) {
	cp := minimal()
	old := applicationCredential(cp, credentialName(cp, "s3cret"), nil)
	kept := supersededCredential(cp, old)
	if keystoneName(kept) != keystoneName(old) || kept.Name == old.Name {
		t.Errorf("%s keeps %s", kept.Name, keystoneName(kept))
	}
	if kept.Spec.Resource.SecretRef != orcv1alpha1.KubernetesNameRef(cp.PasswordCloudSecretName()) {
		t.Errorf("K-ORC would make it from Secret %s", kept.Spec.Resource.SecretRef)
	}
}

func TestOnlyCredentialsAreDeletedInOpenStack(t *testing.T) {
	cp := narrow()
	stay := []orcObject{identityService(cp), identityEndpoint(cluster.Settings{}, cp)}
	for _, resource := range cp.Spec.KORC.AdminCredential.BootstrapResources {
		stay = append(stay, bootstrapResource(cp, resource))
	}
	for _, obj := range stay {
		if options := managedOptions(obj); (*options).GetOnDelete() != orcv1alpha1.OnDeleteDetach || onDelete(obj) != orcv1alpha1.OnDeleteDetach {
			t.Errorf("deleting %s %s deletes what it stands for", kindName(obj), obj.GetName())
		}
	}
	if onDelete(applicationCredential(cp, credentialName(cp, "s3cret"), nil)) != orcv1alpha1.OnDeleteDelete {
		t.Error("deleting a credential does not revoke it")
	}
}

func TestEverythingOfAControlPlaneInTheStoreIsBelowTheNameOfItsCluster(t *testing.T) {
	east, cp, secret := cluster.Settings{Name: "east"}, minimal(), &corev1.Secret{}
	push := credentialPush(east, cp, secret)
	got := []string{
		databasePath(east, cp), adminPasswordPath(east, cp), push.Spec.Data[0].Match.RemoteRef.RemoteKey,
		cloudsDelivery(east, cp, secret, push).Spec.Data[0].RemoteRef.Key,
	}
	want := []string{
		"east/openstack/keystone/openstack/controlplane/db", "east/bootstrap/openstack/controlplane-keystone/admin",
		"east/openstack/keystone/openstack/controlplane/admin/app-credential",
		"east/openstack/keystone/openstack/controlplane/admin/app-credential",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths in the store (-want +got):\n%s", diff)
	}
}

func TestTheCatalogHasTheDomainOfTheCluster(t *testing.T) {
	got := identityEndpoint(cluster.Settings{Domain: "k8s.example.com"}, minimal()).Spec.Resource.URL
	if got != "http://controlplane-keystone.openstack.svc.k8s.example.com:5000/v3" {
		t.Errorf("it has Keystone at %q", got)
	}
}
