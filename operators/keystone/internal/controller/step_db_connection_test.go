package controller

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// kept is a Secret of the Keystone.
func kept(k *keystonev1alpha1.Keystone, name string, uid types.UID, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: k.Namespace, Name: name, UID: uid, Labels: commonLabels(k),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(k, keystonev1alpha1.GroupVersion.WithKind("Keystone"))},
		},
		Data: data,
	}
}

func keysOf(k *keystonev1alpha1.Keystone, uid types.UID) *corev1.Secret {
	return kept(k, credentialKeysName(k), uid, nil)
}

func connectionOf(k *keystonev1alpha1.Keystone, url string) *corev1.Secret {
	return kept(k, connectionSecretName(k), "connection", map[string][]byte{connectionKey: []byte(url)})
}

// runs is the Deployment whose pods have the connection with the hash.
func runs(t *testing.T, k *keystonev1alpha1.Keystone, hash string) *appsv1.Deployment {
	t.Helper()
	deploy := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: k.Name}}
	deploy.Spec.Template.Annotations = map[string]string{annotationConnectionHash: hash}
	if err := controllerutil.SetControllerReference(k, deploy, Scheme()); err != nil {
		t.Fatal(err)
	}
	return deploy
}

// connects takes the step over a Keystone with the database password.
func connects(t *testing.T, k *keystonev1alpha1.Keystone, password string, objects ...client.Object) *scope {
	t.Helper()
	s := passOver(k, objects...)
	s.credentials.databasePassword = []byte(password)
	if outcome := reconcileDBConnection(t.Context(), s); !outcome.IsDone() {
		t.Fatal(outcome.Message())
	}
	return s
}

// podHash is what pods get as the hash of their connection.
func podHash(s *scope) string {
	return apiDeployment(s).Spec.Template.Annotations[annotationConnectionHash]
}

// given is the URL that pods get.
func given(t *testing.T, s *scope) string {
	t.Helper()
	secret, err := s.Owned.Find(t.Context(), s.Key(connectionSecretName(s.keystone)))
	if err != nil || secret == nil {
		t.Fatalf("the pods have no connection (%v)", err)
	}
	return string(secret.Data[connectionKey])
}

func urlOf(k *keystonev1alpha1.Keystone, password string) string {
	return connectionURL(k, login{"keystone", []byte(password)})
}

func plainHash(url string) string {
	sum := sha256.Sum256([]byte(url))
	return hex.EncodeToString(sum[:])
}

func TestTheHashOfAConnectionTellsNothingToThoseWhoSeeNoSecret(t *testing.T) {
	k := minimal()
	hash := podHash(connects(t, k, "old", keysOf(k, "a")))
	if hash == plainHash(urlOf(k, "old")) {
		t.Error("whoever sees the hash can try out passwords")
	}
	if again := podHash(connects(t, k, "old", keysOf(k, "a"), connectionOf(k, urlOf(k, "old")))); again != hash {
		t.Error("it changes though neither the connection nor the key does")
	}
	if other := podHash(connects(t, k, "new", keysOf(k, "a"))); other == hash {
		t.Error("another connection has the same hash")
	}
	if other := podHash(connects(t, k, "old", keysOf(k, "b"))); other == hash {
		t.Error("the hash has no key")
	}
}

func TestAFailedInstallationIsTriedAnewWithAnotherPasswordBeforeThereAreKeys(t *testing.T) {
	k := minimal()
	hash := func(password string) string {
		return dbSync(connects(t, k, password)).Annotations[annotationConnectionHash]
	}
	if hash("old") == hash("new") {
		t.Error("the Job looks the same")
	}
	if hash("old") == plainHash(urlOf(k, "old")) {
		t.Error("whoever sees the hash can try out passwords")
	}
}

func TestPodsOfAnEarlierOperatorAreLeftAloneUntilTheirConnectionChanges(t *testing.T) {
	k := minimal()
	url := urlOf(k, "old")
	objects := []client.Object{keysOf(k, "a"), connectionOf(k, url), runs(t, k, plainHash(url))}
	s := connects(t, k, "old", objects...)
	if outcome := s.promoteConnection(t.Context()); !outcome.IsDone() {
		t.Fatal(outcome.Message())
	}
	if podHash(s) != plainHash(url) {
		t.Error("they are replaced though they have the right connection")
	}
	if schemaCheck(s).Annotations[annotationConnectionHash] != plainHash(url) {
		t.Error("the schema is checked again though nothing has changed")
	}
	s = connects(t, k, "new", objects...)
	if podHash(s) != plainHash(url) || given(t, s) != url {
		t.Error("they get a connection that is not proven")
	}
	if outcome := s.promoteConnection(t.Context()); !outcome.IsDone() {
		t.Fatal(outcome.Message())
	}
	if hash := podHash(s); hash == plainHash(url) || hash == plainHash(urlOf(k, "new")) || given(t, s) != urlOf(k, "new") {
		t.Error("they do not get the changed connection, or one with a hash without a key")
	}
}

func TestALostConnectionIsRecalledByItsHash(t *testing.T) {
	k := managed()
	old := urlOf(k, "old")
	keyed := podHash(connects(t, k, "old", keysOf(k, "a")))
	remembered := kept(k, loginsSecretName(k), "logins", map[string][]byte{"keystone": []byte("old"), "keystone-standby": []byte("new")})
	for name, hash := range map[string]string{"with a key": keyed, "of an earlier operator": plainHash(old)} {
		s := connects(t, k, "new", keysOf(k, "a"), remembered.DeepCopy(), runs(t, k, hash), apiPod(k, "pod", hash, corev1.PodRunning))
		if given(t, s) != old || podHash(s) != hash {
			t.Errorf("a hash %s: the pods get another connection than they have", name)
		}
	}
	s := connects(t, k, "new", keysOf(k, "a"), remembered, runs(t, k, "another"))
	if given(t, s) == old {
		t.Error("a connection is recalled that the pods do not have")
	}
}

func TestLostKeysDoNotGivePodsAConnectionThatIsNotProven(t *testing.T) {
	k := minimal()
	hash := podHash(connects(t, k, "old", keysOf(k, "a")))
	s := connects(t, k, "new", connectionOf(k, urlOf(k, "old")), runs(t, k, hash))
	if given(t, s) != urlOf(k, "old") || podHash(s) != hash {
		t.Error("they get one")
	}
}
