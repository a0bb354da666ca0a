package conformance

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/sharing"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// isolation verifies that resources do not affect each other or foreign objects.
func (s suite[T]) isolation(t *testing.T) {
	t.Run("two resources in a namespace do not affect each other", s.neighbours)
	if !s.hasData() {
		return
	}
	t.Run("the younger of two resources with one database is refused", s.sharers)
	for _, kind := range sharing.Others(s.Definition.Kind) {
		t.Run("a database of a "+kind.Kind+" is neither used nor dropped", func(t *testing.T) { s.otherKind(t, kind) })
	}
	t.Run("a foreign Secret is neither cached nor read", s.unread)
}

// neighbour is another resource in the namespace, under the same operator.
func (i *Instance[T]) neighbour(name string, m mode, change func(T)) *Instance[T] {
	other := *i
	other.Resource = i.make(i.namespace(), m)
	other.Resource.SetName(name)
	change(other.Resource)
	other.Create()
	return &other
}

// otherDatabase gives the resource, if it has a database, one of another name.
func otherDatabase[T service.Resource](resource T) {
	if data := commonv1.DataOf(resource); data != nil {
		data.Database.Database += "_two"
	}
}

func (s suite[T]) neighbours(t *testing.T) {
	t.Parallel()
	one := s.converged(t, brownfield)
	// One name is a prefix of the other.
	two := one.neighbour(one.name()+"-two", brownfield, otherDatabase)
	two.Ready()
	one.settle()
	two.settle()
	before := two.versions()
	for child := range before {
		if !strings.Contains(child, " "+two.name()) {
			t.Errorf("%s controls %s", two.name(), child)
		}
	}
	one.change(func(spec *commonv1.ServiceSpec) { spec.Logging = &commonv1.LoggingSpec{Level: commonv1.LogLevelDebug} })
	one.Ready()
	objects.Delete(t, s.Admin, client.Object(one.copied()))
	one.gone()
	two.unchanged(before)
	two.Ready()
}

func (s suite[T]) sharers(t *testing.T) {
	t.Parallel()
	older := s.converged(t, managed)
	younger := older.neighbour(older.name()+"-two", managed, func(T) {})
	younger.Fails(vocabulary.ConditionReady, vocabulary.ReasonDatabaseInUse,
		s.Definition.Kind+" "+older.name()+" of namespace "+older.namespace(), "delete")
	if found := younger.versions(); len(found) > 0 {
		t.Errorf("the refused resource has %v", found)
	}
	objects.Delete(t, s.Admin, client.Object(younger.copied()))
	younger.gone()
	older.settle()
	older.Ready()

	// Another name of the same server makes no difference.
	alias := cluster + "." + older.namespace() + ".svc.cluster.local"
	younger = older.neighbour(older.name()+"-three", brownfield, func(r T) { commonv1.DataOf(r).Database.Host = alias })
	younger.Fails(vocabulary.ConditionReady, vocabulary.ReasonDatabaseInUse)
	objects.Delete(t, s.Admin, client.Object(older.copied()))
	older.gone()
	younger.Ready()
}

// lists records how the operator reads the collections of Secrets and ConfigMaps.
type lists struct {
	mu   sync.Mutex
	own  string
	seen map[string]bool
}

func (l *lists) wrap(next http.RoundTripper) http.RoundTripper {
	return transport.Func(func(req *http.Request) (*http.Response, error) {
		r := transport.Parse(req)
		if r.Name == "" && (r.Verb == "list" || r.Verb == "watch") && slices.Contains([]string{"secrets", "configmaps"}, r.Resource) {
			how := "everything"
			switch {
			case strings.Contains(req.Header.Get("Accept"), "as=PartialObjectMetadata"):
				how = "metadata"
			case req.URL.Query().Get("labelSelector") == l.own:
				how = "own"
			}
			l.mu.Lock()
			l.seen[r.Resource+" "+how] = true
			l.mu.Unlock()
		}
		return next.RoundTrip(req)
	})
}

func (s suite[T]) unread(t *testing.T) {
	t.Parallel()
	observed := &lists{own: service.LabelManagedBy + "=" + s.Definition.ManagedBy(), seen: map[string]bool{}}
	world := *s.World
	world.AsOperator = rest.CopyConfig(s.AsOperator)
	world.AsOperator.Wrap(observed.wrap)
	i := suite[T]{s.Service, &world}.converged(t, brownfield)
	i.settle()
	before := i.Operator.Requests.Snapshot()
	for n := range 20 {
		objects.Create(t, s.Admin, i.secret(fmt.Sprintf("foreign-%d", n), map[string]string{"k": "v"}))
	}
	// A change afterwards that the operator must observe.
	i.setSecret(i.databaseSecret(), map[string]string{"password": "changed"})
	connection := i.connection()
	expect.Object(t, s.Admin, connection, func() error {
		if !strings.Contains(string(connection.Data["connection"]), ":changed@") {
			return errors.New("the change after the foreign Secrets is not noticed yet")
		}
		return nil
	})
	i.Ready()
	foreign := i.Operator.Requests.Since(before).Filter(func(r transport.Request) bool {
		return r.Resource == "secrets" && strings.HasPrefix(r.Name, "foreign-")
	})
	if len(foreign) > 0 {
		t.Errorf("foreign Secrets were read:\n%s", foreign)
	}
	i.Operator.Stop()
	want := map[string]bool{"configmaps own": true, "configmaps metadata": true, "secrets own": true, "secrets metadata": true}
	if diff := cmp.Diff(want, observed.seen); diff != "" {
		t.Errorf("how collections are read (-want +got):\n%s", diff)
	}
}
