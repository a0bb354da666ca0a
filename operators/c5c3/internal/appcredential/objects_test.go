package appcredential

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/kube"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/testutil/golden"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

func TestCredentialObjectsMatchTheirGoldenFiles(t *testing.T) {
	for name, cp := range map[string]*c5c3v1alpha1.ControlPlane{"minimal": fixture.Minimal(), "complete": fixture.Narrow()} {
		credential := applicationCredential(cp, credentialName(cp, "s3cret"), map[string]string{"a": "b"})
		golden.CompareYAML(t, name+"/applicationcredential.yaml", credential)
		golden.CompareYAML(t, name+"/superseded.yaml", supersededCredential(cp, credential))
		golden.CompareYAML(t, name+"/domain.yaml", DomainImport(cp, korc.UserCloud(cp)))
		golden.CompareYAML(t, name+"/user.yaml", UserImport(cp, korc.UserCloud(cp)))
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: cp.ApplicationCredentialName(), UID: "uid"}, Data: map[string][]byte{"value": []byte("v")},
		}
		push := credentialPush(cluster.Settings{}, cp, secret)
		golden.CompareYAML(t, name+"/pushsecret.yaml", push)
		push.Status.SyncedResourceVersion = "1-pushed"
		golden.CompareYAML(t, name+"/clouds-externalsecret.yaml", cloudsDelivery(cluster.Settings{}, cp, push))
	}
}

func TestTheCloudsYamlHashIsKeyedAgainstGuessing(t *testing.T) {
	hash := func(uid types.UID, text string) string {
		source := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{UID: uid}, Data: map[string][]byte{clouds.Key: []byte(text)}}
		return credentialPush(cluster.Settings{}, fixture.Minimal(), source).Annotations[annotationPushHash]
	}
	if hash("a", "s3cret") == hash("b", "s3cret") {
		t.Error("whoever sees the hash can try out passwords")
	}
	if hash("a", "s3cret") == hash("a", "another") {
		t.Error("another text has the same hash")
	}
}

func TestASupersededCredentialCannotBeRecreatedByKORC(t *testing.T) {
	cp := fixture.Minimal()
	old := applicationCredential(cp, credentialName(cp, "s3cret"), nil)
	kept := supersededCredential(cp, old)
	if keystoneName(kept) != keystoneName(old) || kept.Name == old.Name {
		t.Errorf("%s keeps %s", kept.Name, keystoneName(kept))
	}
	if kept.Spec.Resource.SecretRef != orcv1alpha1.KubernetesNameRef(cp.PasswordCloudSecretName()) {
		t.Errorf("K-ORC would make it from Secret %s", kept.Spec.Resource.SecretRef)
	}
}

func TestTheCredentialStorePathIsPrefixedWithTheClusterName(t *testing.T) {
	east, cp, secret := cluster.Settings{Name: "east"}, fixture.Minimal(), &corev1.Secret{}
	push := credentialPush(east, cp, secret)
	got := []string{push.Spec.Data[0].Match.RemoteRef.RemoteKey, cloudsDelivery(east, cp, push).Spec.Data[0].RemoteRef.Key}
	want := []string{
		"east/openstack/keystone/openstack/controlplane/admin/app-credential",
		"east/openstack/keystone/openstack/controlplane/admin/app-credential",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths in the store (-want +got):\n%s", diff)
	}
}

// Deleting the Secret requests another credential, even in the middle of a pass that has
// already read it.
func TestACredentialSecretDeletedConcurrentlyIsNotRecreated(t *testing.T) {
	c := fake.NewClientBuilder().WithScheme(fixture.Scheme()).Build()
	cp := &c5c3v1alpha1.ControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: "openstack", Name: "controlplane", UID: "controlplane"}}
	stored := &secret{
		Pass: pass.New(&pass.Tools{Access: kube.Access{
			Client: c, Owned: secrets.Owned{Client: c, APIReader: c, Scheme: fixture.Scheme()},
		}}, cp),
		object: &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "openstack", Name: cp.ApplicationCredentialName(), UID: "deleted", ResourceVersion: "1"},
			Data:       map[string][]byte{keyValue: []byte("secret")},
		},
	}
	for name, data := range map[string]map[string][]byte{
		"as it was": stored.object.Data, "changed": {keyValue: []byte("secret"), clouds.Key: []byte("clouds: {}")},
	} {
		err := stored.store(t.Context(), data)
		if changed := name == "changed"; changed != apierrors.IsNotFound(err) {
			t.Errorf("%s: got %v", name, err)
		}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(stored.object), &corev1.Secret{}); !apierrors.IsNotFound(err) {
			t.Errorf("%s: the Secret is there again", name)
		}
	}
}
