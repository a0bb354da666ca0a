//go:build integration

package controller_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	esv1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

func newStore() *esv1.ClusterSecretStore {
	store := &esv1.ClusterSecretStore{ObjectMeta: metav1.ObjectMeta{Name: "openbao-cluster-store"}}
	store.Spec.Provider = &esv1.SecretStoreProvider{Fake: &esv1.FakeProvider{Data: []esv1.FakeProviderData{}}}
	return store
}

// newExternalSecret fills a database Secret from the path "database".
func newExternalSecret(namespace, name string) *esv1.ExternalSecret {
	es := &esv1.ExternalSecret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	es.Spec.SecretStoreRef = esv1.SecretStoreRef{Name: "openbao-cluster-store", Kind: "ClusterSecretStore"}
	for _, key := range []string{"username", "password"} {
		es.Spec.Data = append(es.Spec.Data, esv1.ExternalSecretData{
			SecretKey: key, RemoteRef: esv1.ExternalSecretDataRemoteRef{Key: "database", Property: key},
		})
	}
	return es
}

func TestTwoKeystonesOfANamespaceDoNotDisturbEachOther(t *testing.T) {
	t.Parallel()
	c, namespace := newNamespace(t, testutil.Secrets)
	operator := testutil.Start(t, asOperator, namespace)
	// One name is the beginning of the other.
	one, two := testutil.Brownfield(namespace, "keystone"), testutil.Brownfield(namespace, "keystone-two")
	two.Spec.Database.Database = "keystone_two"
	objects.Create(t, c, one, two)
	for _, k := range []*keystonev1alpha1.Keystone{one, two} {
		backedUp(t, c, k)
		ready(t, c, k)
	}
	settle(t, c, one, operator)
	settle(t, c, two, operator)

	ofTwo := func() []string {
		var own []string
		for _, child := range children(t, c, two) {
			if metav1.IsControlledBy(&child, two) {
				own = append(own, child.Kind+" "+child.Name+" "+child.ResourceVersion)
			}
		}
		return own
	}
	before := ofTwo()
	for _, child := range before {
		if !strings.Contains(child, " keystone-two") {
			t.Errorf("keystone-two controls %s", child)
		}
	}
	objects.Change(t, c, one, func(k *keystonev1alpha1.Keystone) {
		k.Spec.ExtraConfig = map[string]map[string]string{"token": {"expiration": "7200"}}
	})
	ready(t, c, one)
	objects.Delete(t, c, one.DeepCopy())
	expect.Gone(t, c, one)
	if diff := cmp.Diff(before, ofTwo()); diff != "" {
		t.Errorf("children of the other Keystone (-before +after):\n%s", diff)
	}
	ready(t, c, two)
}

// lists remembers how the operator reads the collections of a resource.
type lists struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (l *lists) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		r := transport.Parse(req)
		if r.Name == "" && (r.Verb == "list" || r.Verb == "watch") && slices.Contains([]string{"secrets", "configmaps"}, r.Resource) {
			how := "everything"
			switch {
			case strings.Contains(req.Header.Get("Accept"), "as=PartialObjectMetadata"):
				how = "metadata"
			case req.URL.Query().Get("labelSelector") == "app.kubernetes.io/managed-by=keystone-operator":
				how = "own"
			}
			l.mu.Lock()
			l.seen[r.Resource+" "+how] = true
			l.mu.Unlock()
		}
		return next.RoundTrip(req)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func TestForeignSecretsAndConfigMapsAreNotCached(t *testing.T) {
	t.Parallel()
	c, namespace := newNamespace(t, testutil.Secrets)
	observed := &lists{seen: map[string]bool{}}
	cfg := rest.CopyConfig(asOperator)
	cfg.Wrap(observed.wrap)
	operator := testutil.Start(t, cfg, namespace)
	k := testutil.Brownfield(namespace, testutil.Name)
	objects.Create(t, c, k)
	ready(t, c, k)
	operator.Stop()
	want := map[string]bool{
		"configmaps own": true, "configmaps metadata": true, "secrets own": true, "secrets metadata": true,
	}
	if diff := cmp.Diff(want, observed.seen); diff != "" {
		t.Errorf("how collections are read (-want +got):\n%s", diff)
	}
}

func TestASecretNobodyRefersToCostsNoRequest(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[0])
	settle(t, c, k, operator)
	before := operator.Requests.Snapshot()
	for i := range 20 {
		objects.Create(t, c, secret(k.Namespace, fmt.Sprintf("foreign-%d", i), map[string]string{"k": "v"}))
	}
	// What the operator has to notice comes after them.
	w := &world{T: t, client: c, namespace: k.Namespace, keystone: k}
	setSecret(w, testutil.AdminSecret, map[string]string{"password": "changed"})
	expect.Object(t, c, k, func() error {
		if len(jobs.Runs(k.Namespace, k.Name+"-bootstrap")) != 2 {
			return errors.New("the change after the foreign Secrets is not noticed yet")
		}
		return nil
	})
	foreignReads := operator.Requests.Since(before).Filter(func(r transport.Request) bool {
		return r.Resource == "secrets" && strings.HasPrefix(r.Name, "foreign-")
	})
	if len(foreignReads) > 0 {
		t.Errorf("foreign Secrets were read:\n%s", foreignReads)
	}
}

func TestTheYoungerOfTwoKeystonesWithOneDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	c, older, operator := converged(t, modes[1])
	younger := testutil.Managed(older.Namespace, "keystone-two")
	objects.Create(t, c, younger)
	expect.Condition(t, c, younger, "Ready", metav1.ConditionFalse, "DatabaseInUse",
		"Keystone keystone of namespace "+older.Namespace, "delete")
	for _, child := range children(t, c, younger) {
		if metav1.IsControlledBy(&child, younger) {
			t.Errorf("the refused Keystone has a %s", child)
		}
	}
	objects.Delete(t, c, younger.DeepCopy())
	expect.Gone(t, c, younger.DeepCopy())
	settle(t, c, older, operator)
	ready(t, c, older)

	// Another name of the same server makes no difference.
	younger = testutil.Brownfield(older.Namespace, "keystone-three")
	younger.Spec.Database.Host = testutil.Cluster + "." + older.Namespace + ".svc.cluster.local"
	objects.Create(t, c, younger)
	expect.Condition(t, c, younger, "Ready", metav1.ConditionFalse, "DatabaseInUse")

	objects.Delete(t, c, older.DeepCopy())
	expect.Gone(t, c, older)
	ready(t, c, younger)
}
