package database

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/database/logins"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// keyed is a database whose hashes are keyed with the UID of a Secret.
var keyed = Database{Section: "DATABASE", Key: func(ctx context.Context, p *service.Pass) (types.UID, error) {
	found, err := p.Owned.Find(ctx, p.Key("harbour-keys"))
	if found == nil || err != nil {
		return "", err
	}
	return found.UID, nil
}}

// managed is an instance with a managed database and TLS.
func managed() *instance.Harbour {
	h := instance.Brownfield()
	h.Spec.Database.Host, h.Spec.Database.ClusterRef = "", &corev1.LocalObjectReference{Name: "openstack-db"}
	h.Spec.Database.TLS = &commonv1.DatabaseTLSSpec{
		Enabled: true, Mode: commonv1.DatabaseTLSVerifyFull,
		CABundleSecretRef: &commonv1.SecretRefSpec{Name: "db-ca"}, ClientCertSecretRef: &commonv1.SecretRefSpec{Name: "harbour-db-client"},
	}
	return h
}

// kept is a Secret that the instance owns.
func kept(h *instance.Harbour, name string, uid types.UID, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: h.Namespace, Name: name, UID: uid, Labels: instance.Definition.Labels(h.Name),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(h, instance.Kind)},
		},
		Data: data,
	}
}

func keysOf(h *instance.Harbour, uid types.UID) *corev1.Secret {
	return kept(h, "harbour-keys", uid, nil)
}

func connectionOf(h *instance.Harbour, url string) *corev1.Secret {
	return kept(h, SecretName(h.Name), "connection", map[string][]byte{connectionKey: []byte(url)})
}

// runs is a Deployment whose pods have the connection with the hash.
func runs(t *testing.T, h *instance.Harbour, hash string) *appsv1.Deployment {
	t.Helper()
	deploy := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
		Namespace: h.Namespace, Name: h.Name, OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(h, instance.Kind)},
	}}
	deploy.Spec.Template.Annotations = map[string]string{HashAnnotation(&instance.Definition): hash}
	return deploy
}

func apiPod(h *instance.Harbour, name, connectionHash string, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: h.Namespace, Name: name, Labels: instance.Definition.SelectorLabels(h.Name),
			Annotations: map[string]string{HashAnnotation(&instance.Definition): connectionHash},
		},
		Status: corev1.PodStatus{Phase: phase},
	}
}

// connects runs the step on an instance with the database password.
func connects(t *testing.T, h *instance.Harbour, password string, objects ...client.Object) *Access {
	t.Helper()
	copied, _ := h.DeepCopyObject().(*instance.Harbour)
	p := instance.Pass(t, copied, interceptor.Funcs{}, objects...)
	CredentialsOf.Put(p.Slots, Credentials{User: "harbour", Password: []byte(password), Secret: types.UID("secret")})
	if outcome := keyed.ReconcileConnection(t.Context(), p); !outcome.IsDone() {
		t.Fatal(outcome.Message())
	}
	return Connection.Value(p.Slots)
}

// hashOf is the connection hash of pods, and hashOfTask that of Jobs.
func hashOf(a *Access) string { return a.Hash() }

func hashOfTask(a *Access) string {
	_, hash := a.TaskConnection()
	return hash
}

// given is the URL that pods get.
func given(t *testing.T, a *Access) string {
	t.Helper()
	secret, err := a.pass.Owned.Find(t.Context(), a.pass.Key(SecretName("harbour")))
	if err != nil || secret == nil {
		t.Fatalf("the pods have no connection (%v)", err)
	}
	return string(secret.Data[connectionKey])
}

func urlOf(h *instance.Harbour, password string) string {
	return connectionURL(service.NewPass(&service.Tools{}, &instance.Definition, h), logins.Login{User: "harbour", Password: []byte(password)})
}

func plainHash(url string) string {
	sum := sha256.Sum256([]byte(url))
	return hex.EncodeToString(sum[:])
}

func TestATerminatedPodDoesNotDelayAPasswordChange(t *testing.T) {
	current, wanted := logins.Login{User: "harbour", Password: []byte("old")}, logins.Login{User: "harbour", Password: []byte("new")}
	for phase, changes := range map[corev1.PodPhase]bool{
		corev1.PodFailed: true, corev1.PodSucceeded: true, corev1.PodRunning: false, corev1.PodPending: false,
	} {
		h := managed()
		p := instance.Pass(t, h, interceptor.Funcs{}, apiPod(h, "serving", "live", corev1.PodRunning), apiPod(h, "other", "earlier", phase))
		a := &Access{pass: p, wanted: wanted}
		plan, err := a.planLogins(t.Context(), current, "live")
		if err != nil {
			t.Fatal(err)
		}
		if got := !plan.Next.Is(current); got != changes {
			t.Errorf("with a pod of another connection that is %s the login changes: %t, want %t", phase, got, changes)
		}
	}
}

func TestTheConnectionHashIsKeyedAgainstPasswordGuessing(t *testing.T) {
	h := instance.Brownfield()
	hash := hashOf(connects(t, h, "old", keysOf(h, "a")))
	if hash == plainHash(urlOf(h, "old")) {
		t.Error("whoever sees the hash can try out passwords")
	}
	if again := hashOf(connects(t, h, "old", keysOf(h, "a"), connectionOf(h, urlOf(h, "old")))); again != hash {
		t.Error("it changes though neither the connection nor the key does")
	}
	if other := hashOf(connects(t, h, "new", keysOf(h, "a"))); other == hash {
		t.Error("another connection has the same hash")
	}
	if other := hashOf(connects(t, h, "old", keysOf(h, "b"))); other == hash {
		t.Error("the hash has no key")
	}
}

func TestTheTaskHashChangesWithThePasswordBeforeTheHashKeyExists(t *testing.T) {
	h := instance.Brownfield()
	hash := func(password string) string {
		return hashOfTask(connects(t, h, password))
	}
	if hash("old") == hash("new") {
		t.Error("the Job looks the same")
	}
	if hash("old") == plainHash(urlOf(h, "old")) {
		t.Error("whoever sees the hash can try out passwords")
	}
}

func TestAnUnkeyedHashOfAnEarlierOperatorDoesNotRollPods(t *testing.T) {
	h := instance.Brownfield()
	url := urlOf(h, "old")
	objects := []client.Object{keysOf(h, "a"), connectionOf(h, url), runs(t, h, plainHash(url))}
	s := connects(t, h, "old", objects...)
	if err := keyed.Promote(t.Context(), s.pass); err != nil {
		t.Fatal(err)
	}
	if s.Hash() != plainHash(url) {
		t.Error("they are replaced though they have the right connection")
	}
	if hashOfTask(s) != plainHash(url) {
		t.Error("the schema is checked again though nothing has changed")
	}
	s = connects(t, h, "new", objects...)
	if s.Hash() != plainHash(url) || given(t, s) != url {
		t.Error("they get a connection that is not proven")
	}
	if err := keyed.Promote(t.Context(), s.pass); err != nil {
		t.Fatal(err)
	}
	if hash := s.Hash(); hash == plainHash(url) || hash == plainHash(urlOf(h, "new")) || given(t, s) != urlOf(h, "new") {
		t.Error("they do not get the changed connection, or one with a hash without a key")
	}
}

func TestALostConnectionSecretIsRestoredByItsHash(t *testing.T) {
	h := managed()
	old := urlOf(h, "old")
	hashed := hashOf(connects(t, h, "old", keysOf(h, "a")))
	remembered := kept(h, "harbour-db-logins", "logins", map[string][]byte{"harbour": []byte("old"), "harbour-standby": []byte("new")})
	for name, hash := range map[string]string{"with a key": hashed, "of an earlier operator": plainHash(old)} {
		s := connects(t, h, "new", keysOf(h, "a"), remembered.DeepCopy(), runs(t, h, hash), apiPod(h, "pod", hash, corev1.PodRunning))
		if given(t, s) != old || s.Hash() != hash {
			t.Errorf("a hash %s: the pods get another connection than they have", name)
		}
	}
	s := connects(t, h, "new", keysOf(h, "a"), remembered, runs(t, h, "another"))
	if given(t, s) == old {
		t.Error("a connection is recalled that the pods do not have")
	}
}

func TestAForeignEditOfTheConnectionSecretIsIgnored(t *testing.T) {
	for name, h := range map[string]*instance.Harbour{"managed": managed(), "external": instance.Brownfield()} {
		url, keys := urlOf(h, "old"), keysOf(h, "a")
		a := connects(t, h, "old", keys)
		secret, err := a.pass.Owned.Find(t.Context(), a.pass.Key(SecretName(h.Name)))
		if err != nil || secret == nil {
			t.Fatal("there is no connection")
		}
		deploy := runs(t, h, a.Hash())
		deploy.Spec.Template.Annotations[apply.RequestedImage] = "image"
		pod := apiPod(h, "pod", a.Hash(), corev1.PodRunning)
		for what, change := range map[string]func(*corev1.Secret){
			"written over": func(*corev1.Secret) {}, "replaced": func(s *corev1.Secret) { s.Annotations = nil },
		} {
			edited := secret.DeepCopy()
			edited.ResourceVersion, edited.Data = "", map[string][]byte{connectionKey: []byte(urlOf(h, "edited"))}
			change(edited)
			now := connects(t, h, "old", keys.DeepCopy(), edited, deploy.DeepCopy(), pod.DeepCopy())
			if given(t, now) != url || now.Candidate() || now.Hash() != a.Hash() || now.plan.Changing(now.wanted) {
				t.Errorf("%s, %s: it is believed", name, what)
			}
		}
	}
}

func TestAForeignEditOfStoredPasswordsIsIgnored(t *testing.T) {
	h := managed()
	hash := hashOf(connects(t, h, "old", keysOf(h, "a")))
	deploy := runs(t, h, hash)
	deploy.Spec.Template.Annotations[apply.RequestedImage] = "image"
	a := connects(t, h, "new", keysOf(h, "a"))
	remembered := signed(a.pass, loginsSecret(a.pass), map[string][]byte{"harbour": []byte("old")})
	connection := connectionSecret(a.pass, SecretName(h.Name), urlOf(h, "old"))
	remembered.Data["harbour-standby"] = []byte("edited")
	now := connects(t, h, "new", keysOf(h, "a"), deploy, remembered, connection,
		apiPod(h, "one", hash, corev1.PodRunning), apiPod(h, "two", "another", corev1.PodRunning))
	if password := now.plan.Known["harbour-standby"]; password != nil {
		t.Error("the password of the standby user is set to what somebody else has written")
	}
}

func TestPodsKeepTheirConnectionWhenTheHashKeyIsLost(t *testing.T) {
	h := instance.Brownfield()
	hash := hashOf(connects(t, h, "old", keysOf(h, "a")))
	s := connects(t, h, "new", connectionOf(h, urlOf(h, "old")), runs(t, h, hash))
	if given(t, s) != urlOf(h, "old") || s.Hash() != hash {
		t.Error("they get one")
	}
}

func TestPodsKeepTheirConnectionWhenTheHashKeyIsRecreated(t *testing.T) {
	h := instance.Brownfield()
	url := urlOf(h, "old")
	p := instance.Pass(t, h, interceptor.Funcs{}, connectionOf(h, url), runs(t, h, "hash with another key"))
	CredentialsOf.Put(p.Slots, Credentials{User: "harbour", Password: []byte("new"), Secret: "another"})
	if outcome := (Database{Section: "DATABASE"}).ReconcileConnection(t.Context(), p); !outcome.IsDone() {
		t.Fatal(outcome.Message())
	}
	if a := Connection.Value(p.Slots); !a.Candidate() || a.Hash() != "hash with another key" || given(t, a) != url {
		t.Error("they get one")
	}
}

func TestTheConnectionURLIsRedactedEvenIfTheStepFails(t *testing.T) {
	h := instance.Brownfield()
	p := instance.Pass(t, h, interceptor.Funcs{Get: func(
		ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption,
	) error {
		if _, ok := obj.(*appsv1.Deployment); ok {
			return errors.New("the API server is away")
		}
		return c.Get(ctx, key, obj, opts...)
	}})
	CredentialsOf.Put(p.Slots, Credentials{User: "harbour", Password: []byte("secret word")})
	if outcome := keyed.ReconcileConnection(t.Context(), p); outcome.IsDone() {
		t.Fatal("the step has not failed")
	}
	if !slices.Contains(p.Hidden(), urlOf(h, "secret word")) {
		t.Errorf("the URL may be quoted")
	}
}
