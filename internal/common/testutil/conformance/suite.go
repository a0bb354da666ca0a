package conformance

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/probe"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/sharing"
	"github.com/c5c3/forge/internal/common/testutil/children"
	"github.com/c5c3/forge/internal/common/testutil/running"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// suite is a service in a world.
type suite[T service.Resource] struct {
	Service[T]
	*World
}

// mode is how the database is provided, if the service has one.
type mode string

const (
	// brownfield is a resource as [Service].New returns it.
	brownfield mode = "an external database"
	managed    mode = "a managed database"
	// plain is that of a service without a database.
	plain mode = "no database"
)

// modes are those that the service has.
func (s suite[T]) modes() []mode {
	if s.hasData() {
		return []mode{brownfield, managed}
	}
	return []mode{plain}
}

// fullest is the mode with most children.
func (s suite[T]) fullest() mode {
	modes := s.modes()
	return modes[len(modes)-1]
}

// cluster is the MariaDB of the managed mode.
const cluster = "mariadb"

// userCheck is the suffix of the Job that checks the service user.
const userCheck = "service-user-check"

// make returns a resource of the mode, named after the service.
func (s suite[T]) make(namespace string, m mode) T {
	resource := s.New(namespace, s.Definition.CodeName)
	if m == managed {
		data := commonv1.DataOf(resource)
		data.Database.Host, data.Database.ClusterRef = "", &corev1.LocalObjectReference{Name: cluster}
	}
	return resource
}

// inputs returns the objects that a resource of the mode refers to.
func (s suite[T]) inputs(namespace string, m mode) []client.Object {
	if m != managed {
		return s.Inputs(namespace)
	}
	return append(s.Inputs(namespace), mariaDB(namespace))
}

func mariaDB(namespace string) *mariadbv1alpha1.MariaDB {
	server := &mariadbv1alpha1.MariaDB{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: cluster}}
	server.Spec.Storage.Ephemeral = new(true)
	return server
}

// kind is the service as a kind, with resources of the mode.
func (s suite[T]) kind(m mode) Kind[T] {
	k := Kind[T]{
		Program: s.Program, Vocabulary: s.Vocabulary, Reasons: notRequired, probe: s.probe,
		New:     func(namespace string) T { return s.make(namespace, m) },
		Inputs:  func(namespace string) []client.Object { return s.inputs(namespace, m) },
		Observe: s.observe, Compare: compareOutcomes, Gone: s.nothingLeft, Left: s.left,
		Drifts: s.drifts(m), Hibernation: s.hibernationOf(),
		StatusWrites: s.StatusWrites,
	}
	if s.hasData() {
		k.Events = append(k.Events, "Normal "+vocabulary.EventDatabaseSynced)
	}
	for _, reason := range s.Service.Events {
		k.Events = append(k.Events, "Normal "+reason)
	}
	if m == managed {
		// A managed database adds a wait.
		k.StatusWrites++
	}
	return k
}

// trial is the kind in a world that serves all its resources.
func (s suite[T]) trial(t *testing.T, m mode) Trial[T] {
	t.Helper()
	k, resource := s.kind(m), s.resourceOf(t, s.Definition.Kind)
	k.Watches = append(s.otherKinds(), resource)
	k.Writes = s.childWrites(t, m)
	k.Writes["update "+resource+"/status"] = 1
	k.DeletionWrites = maps.Clone(s.DeletionWrites)
	if s.hasData() {
		k.Writes["patch "+resource] = 2
		k.DeletionWrites = map[string]int{"patch " + resource: 1}
		for _, kind := range []string{"databases", "users", "grants"} {
			k.DeletionWrites["delete "+kind+".k8s.mariadb.com"] = 1
		}
		maps.Copy(k.DeletionWrites, s.DeletionWrites)
	}
	return Trial[T]{k, s.World}
}

// left returns the children that a deletion has left so far.
func (s suite[T]) left(ctx context.Context, namespace string) (any, error) {
	found, err := children.Find(ctx, s.Admin, s.Definition, namespace)
	return children.Names(found), err
}

// always are the watches that an operator of one namespace has for every service.
var always = []string{
	"configmaps.", "pods.", "secrets.", "services.", "deployments.apps", "horizontalpodautoscalers.autoscaling", "jobs.batch",
	"networkpolicies.networking.k8s.io", "poddisruptionbudgets.policy",
	// Objects that users refer to.
	"configmaps., metadata", "secrets., metadata",
	// Kinds of other projects.
	"httproutes.gateway.networking.k8s.io", "externalsecrets.external-secrets.io",
}

// ofDatabases are those for every service with a database, beside the other services.
var ofDatabases = []string{
	"mariadbs.k8s.mariadb.com", "databases.k8s.mariadb.com", "users.k8s.mariadb.com", "grants.k8s.mariadb.com",
	"certificates.cert-manager.io",
}

// otherKinds returns what the operator watches beside the kind of the service.
func (s suite[T]) otherKinds() []string {
	watched := slices.Concat(always, s.Watches)
	if !s.hasData() {
		return watched
	}
	watched = append(watched, ofDatabases...)
	for _, kind := range sharing.Others(s.Definition.Kind) {
		plural, _ := meta.UnsafeGuessKindToResource(kind)
		watched = append(watched, plural.Resource+"."+plural.Group)
	}
	return watched
}

// probe lets the API answer the operator's requests.
func (s suite[T]) probe(api *running.API) probe.Doer {
	if s.Probe == nil {
		return api
	}
	return s.Probe(api)
}

// wantChildren returns the expected children of a converged resource of the mode.
func (s suite[T]) wantChildren(m mode) []string {
	kinds := []string{
		"ConfigMap %s-config-HASH", "Deployment %s", "PodDisruptionBudget %s", "Service %s",
	}
	if s.hasData() {
		kinds = append(kinds, "Job %s-db-sync", "Job %s-schema-check", "Secret %s-db-connection")
	}
	if m == managed {
		kinds = append(kinds, "Database %s", "Grant %s", "User %s")
	}
	if s.hasUser() {
		kinds = append(kinds, "Job %s-"+userCheck, "Secret %s-extra-config-HASH")
	}
	want := slices.Clone(s.Service.Children)
	for _, kind := range kinds {
		want = append(want, strings.ReplaceAll(kind, "%s", s.Definition.CodeName))
	}
	slices.Sort(want)
	return want
}

// hasUser reports whether the service has a service user.
func (s suite[T]) hasUser() bool {
	_, has := commonv1.ServiceUserOf(s.New("", ""))
	return has
}

// databaseSecret returns the name of the Secret with the database credentials.
func (s suite[T]) databaseSecret() string {
	return commonv1.DataOf(s.New("", "")).Database.SecretRef.Name
}
