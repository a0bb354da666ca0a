package database

import (
	"context"
	"errors"
	"strings"
	"testing"

	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

const (
	atMain    = "@openstack-db.openstack.svc:3306/"
	atPrimary = "@openstack-db-primary.openstack.svc:3306/"
)

// plain is an instance with a managed database that says nothing about TLS.
func plain() *instance.Harbour {
	h := managed()
	h.Spec.Database.TLS = nil
	return h
}

func mariaDB(change func(*mariadbv1alpha1.MariaDBSpec)) *mariadbv1alpha1.MariaDB {
	server := &mariadbv1alpha1.MariaDB{ObjectMeta: metav1.ObjectMeta{Namespace: "openstack", Name: "openstack-db"}}
	change(&server.Spec)
	return server
}

func replicating(s *mariadbv1alpha1.MariaDBSpec) {
	s.Replicas, s.Replication = 2, &mariadbv1alpha1.Replication{Enabled: true}
}

func galera(s *mariadbv1alpha1.MariaDBSpec) {
	s.Replicas, s.Galera = 3, &mariadbv1alpha1.Galera{Enabled: true}
}

func single(*mariadbv1alpha1.MariaDBSpec) {}

// consults runs the two steps that decide about the connection.
func consults(t *testing.T, h *instance.Harbour, funcs interceptor.Funcs, objects ...client.Object) *Access {
	t.Helper()
	copied, _ := h.DeepCopyObject().(*instance.Harbour)
	p := instance.Pass(t, copied, funcs, append(objects, keysOf(h, "a"))...)
	p.Refs = p.APIReader
	CredentialsOf.Put(p.Slots, Credentials{User: "harbour", Password: []byte("old"), Secret: types.UID("secret")})
	keyed.ReconcileTLS(t.Context(), p)
	if outcome := keyed.ReconcileConnection(t.Context(), p); !outcome.IsDone() {
		t.Fatal(outcome.Message())
	}
	return Connection.Value(p.Slots)
}

func TestAMariaDBWithReplicasIsUsedAtItsPrimary(t *testing.T) {
	for name, test := range map[string]struct {
		server func(*mariadbv1alpha1.MariaDBSpec)
		want   string
	}{
		"one server":        {single, atMain},
		"a primary":         {replicating, atPrimary},
		"a Galera cluster":  {galera, atMain},
		"no replication":    {func(s *mariadbv1alpha1.MariaDBSpec) { s.Replication = &mariadbv1alpha1.Replication{} }, atMain},
		"a primary at 3307": {func(s *mariadbv1alpha1.MariaDBSpec) { replicating(s); s.Port = 3307 }, atPrimary},
	} {
		a := consults(t, plain(), interceptor.Funcs{}, mariaDB(test.server))
		if url := given(t, a); !strings.Contains(url, test.want) {
			t.Errorf("%s: the pods do not get %s", name, test.want)
		}
		if got := SpecAddress(a.pass); got != "openstack-db.openstack.svc:3306" {
			t.Errorf("%s: Jobs run again for %s", name, got)
		}
		if got, want := a.pass.DatabaseIdentity().String(), "openstack-db.openstack/harbour"; got != want {
			t.Errorf("%s: the database is %s, want %s", name, got, want)
		}
	}
}

// converged returns the objects of an instance whose pods have what the access gives.
func converged(t *testing.T, h *instance.Harbour, a *Access) []client.Object {
	t.Helper()
	secret, err := a.pass.Owned.Find(t.Context(), a.pass.Key(SecretName(h.Name)))
	if secret == nil || err != nil {
		t.Fatalf("the pods have no connection (%v)", err)
	}
	secret.ResourceVersion = ""
	deploy := runs(t, h, a.Hash())
	deploy.Spec.Template.Annotations[apply.RequestedImage] = "image"
	return []client.Object{secret, deploy, apiPod(h, "pod", a.Hash(), corev1.PodRunning)}
}

func TestPodsChangeToThePrimaryOnceAJobHasReachedIt(t *testing.T) {
	h := plain()
	before := consults(t, h, interceptor.Funcs{}, mariaDB(single))
	objects := converged(t, h, before)
	a := consults(t, h, interceptor.Funcs{}, append(objects, mariaDB(replicating))...)
	if !a.Candidate() || given(t, a) != given(t, before) || a.Hash() != before.Hash() {
		t.Fatal("the pods change before a Job has reached the primary")
	}
	if err := keyed.Promote(t.Context(), a.pass); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(given(t, a), atPrimary) || a.Hash() == before.Hash() {
		t.Error("the pods do not get the primary")
	}
	again := consults(t, h, interceptor.Funcs{}, append(converged(t, h, a), mariaDB(replicating))...)
	if again.Candidate() || again.Hash() != a.Hash() {
		t.Error("the pods change once more")
	}
}

func TestAnUnavailableMariaDBDoesNotChangeTheConnection(t *testing.T) {
	h := plain()
	before := consults(t, h, interceptor.Funcs{}, mariaDB(func(s *mariadbv1alpha1.MariaDBSpec) { replicating(s); requiring(s) }))
	unreadable := interceptor.Funcs{Get: func(
		ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption,
	) error {
		if _, ok := obj.(*mariadbv1alpha1.MariaDB); ok {
			return errors.New("the cache has not started")
		}
		return c.Get(ctx, key, obj, opts...)
	}}
	for name, funcs := range map[string]interceptor.Funcs{"deleted": {}, "unreadable": unreadable} {
		a := consults(t, h, funcs, converged(t, h, before)...)
		if a.Candidate() || a.Hash() != before.Hash() || len(TLSMounts(a.pass)) == 0 {
			t.Errorf("%s: the connection or its certificates change", name)
		}
	}
}

func TestAForeignEditOfTheConnectionHostIsIgnored(t *testing.T) {
	h := plain()
	objects := converged(t, h, consults(t, h, interceptor.Funcs{}, mariaDB(single)))
	secret, _ := objects[0].(*corev1.Secret)
	secret.Data[connectionKey] = []byte("mysql+pymysql://harbour:old@openstack-db-trap.example.com:3306/harbour?charset=utf8")
	if a := consults(t, h, interceptor.Funcs{}, objects...); Address(a.pass) != "openstack-db.openstack.svc:3306" {
		t.Errorf("the database is at %s", Address(a.pass))
	}
}

func requiring(s *mariadbv1alpha1.MariaDBSpec) {
	s.TLS = &mariadbv1alpha1.TLS{Enabled: true, Required: ptr.To(true)}
}

func TestAMariaDBThatRequiresTLSIsUsedWithItsOwnCertificates(t *testing.T) {
	const none = "charset=utf8"
	full := connectionOptions(&instance.Definition, managed().Spec.Database)
	for name, test := range map[string]struct {
		server  func(*mariadbv1alpha1.MariaDBSpec)
		change  func(*commonv1.DatabaseSpec)
		options string
		client  string
	}{
		"it requires TLS":   {server: requiring, options: full, client: "openstack-db-client-cert"},
		"it offers TLS":     {server: func(s *mariadbv1alpha1.MariaDBSpec) { s.TLS = &mariadbv1alpha1.TLS{Enabled: true} }, options: none},
		"it has no TLS":     {server: single, options: none},
		"the spec declines": {requiring, func(db *commonv1.DatabaseSpec) { db.TLS = &commonv1.DatabaseTLSSpec{} }, none, ""},
		"the spec has some": {requiring, func(db *commonv1.DatabaseSpec) { *db = managed().Spec.Database }, full, "harbour-db-client"},
		"it has a certificate for clients": {
			server: func(s *mariadbv1alpha1.MariaDBSpec) {
				requiring(s)
				s.TLS.ClientCertSecretRef = &mariadbv1alpha1.LocalObjectReference{Name: "clients"}
			}, options: full, client: "clients",
		},
		"its certificate is one of the user": {
			server: func(s *mariadbv1alpha1.MariaDBSpec) {
				requiring(s)
				s.TLS.ServerCertSecretRef = &mariadbv1alpha1.LocalObjectReference{Name: "server"}
			}, options: strings.Replace(full, "hostname=true", "hostname=false", 1), client: "openstack-db-client-cert",
		},
	} {
		h := plain()
		if test.change != nil {
			test.change(&h.Spec.Database)
		}
		a := consults(t, h, interceptor.Funcs{}, mariaDB(test.server))
		if _, options, _ := strings.Cut(given(t, a), "?"); options != test.options {
			t.Errorf("%s: options %q, want %q", name, options, test.options)
		}
		client := ""
		if mounts := TLSMounts(a.pass); len(mounts) > 0 {
			client = a.pass.Data.Database.TLS.ClientCertSecretRef.Name
		}
		if client != test.client {
			t.Errorf("%s: the client certificate is that of Secret %q, want %q", name, client, test.client)
		}
		if refuses := RefusesPlainText(a.pass.Data.Database); refuses != (test.options != none) {
			t.Errorf("%s: a connection in plain text is refused: %t", name, refuses)
		}
	}
}

func TestTheAddressOfAnExternalDatabaseIsTakenFromTheSpec(t *testing.T) {
	p := service.NewPass(&service.Tools{}, &instance.Definition, instance.Brownfield())
	if Address(p) != "db.example.com:3306" || SpecAddress(p) != Address(p) {
		t.Errorf("got %s and %s", Address(p), SpecAddress(p))
	}
}
