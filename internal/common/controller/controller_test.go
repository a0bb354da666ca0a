package controller

import (
	"context"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	"github.com/c5c3/forge/internal/common/watches"
)

const fieldManager = "harbour-operator"

// declared is the controller of a kind that is no API service.
func declared() Controller[*instance.Harbour, struct{}, struct{}] {
	return Controller[*instance.Harbour, struct{}, struct{}]{
		For: &instance.Harbour{}, List: &instance.HarbourList{}, AddToScheme: instance.AddToScheme, FieldManager: fieldManager,
		Kinds: []Kind{
			{Object: &appsv1.Deployment{}},
			{Object: &corev1.Secret{}},
			{Object: &networkingv1.NetworkPolicy{}, Concerns: By("spec.policy"), Applied: true},
			{Object: &corev1.Namespace{}, Concerns: Every, ClusterScoped: true},
			{Object: &batchv1.Job{}, Concerns: SameNamespace},
		},
		Trim: func(obj client.Object) { obj.SetAnnotations(nil) },
	}
}

func TestTheSchemeKnowsTheKindAndThoseThatItsControllerWatches(t *testing.T) {
	c := declared()
	scheme := Scheme(c)
	for _, kind := range c.Watched() {
		if _, err := apiutil.GVKForObject(kind.Object, scheme); err != nil {
			t.Error(err)
		}
	}
}

func TestAKindIsWrittenIfTheResourceControlsItsObjectsOrTheDeclarationSaysSo(t *testing.T) {
	var got []string
	for _, kind := range declared().Watched() {
		if kind.Written {
			got = append(got, strings.ToLower(kindOf(t, kind.Object)))
		}
	}
	if strings.Join(got, " ") != "deployment secret networkpolicy" {
		t.Errorf("written are %q", got)
	}
}

func kindOf(t *testing.T, obj client.Object) string {
	t.Helper()
	gvk, err := apiutil.GVKForObject(obj, Scheme(declared()))
	if err != nil {
		t.Fatal(err)
	}
	return gvk.Kind
}

func TestAnOperatorOfANamespaceDoesNotWatchKindsOfTheCluster(t *testing.T) {
	for namespace, want := range map[string]int{"": 5, "openstack": 4} {
		got := 0
		for _, kind := range declared().Kinds {
			if kind.reachable(namespace) {
				got++
			}
		}
		if got != want {
			t.Errorf("in namespace %q %d kinds are watched, want %d", namespace, got, want)
		}
	}
}

func TestTheCacheKnowsWhoWroteAFieldOnlyOfKindsThatAControllerApplies(t *testing.T) {
	// The second controller only reads what the first applies.
	reader := declared()
	reader.Kinds, reader.FieldManager = []Kind{{Object: &appsv1.Deployment{}, Concerns: Every}}, "other-operator"
	transform := CacheTransform(declared(), reader)
	for want, objects := range map[string][]client.Object{
		"": {
			&instance.Harbour{}, &corev1.Secret{}, &corev1.Namespace{}, &batchv1.Job{}, &corev1.Pod{}, &metav1.PartialObjectMetadata{},
		},
		fieldManager: {&appsv1.Deployment{}, &networkingv1.NetworkPolicy{}},
	} {
		for _, obj := range objects {
			obj.SetName("a")
			obj.SetAnnotations(map[string]string{"a": "b"})
			obj.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl"}, {Manager: "other-operator"}, {Manager: fieldManager}})
			if _, err := transform(obj); err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, entry := range obj.GetManagedFields() {
				got += entry.Manager
			}
			if got != want || obj.GetName() != "a" || obj.GetAnnotations() != nil {
				t.Errorf("of %T the writers %q are known, want %q, and the annotations are %v", obj, got, want, obj.GetAnnotations())
			}
		}
	}
}

// everything finds a resource for each way to look for one.
type everything struct{ watches.Finder }

func found(name string) []ctrlreconcile.Request {
	return []ctrlreconcile.Request{{NamespacedName: client.ObjectKey{Name: name}}}
}

func (everything) All(context.Context, client.Object) []ctrlreconcile.Request { return found("all") }

func (everything) SameNamespace(context.Context, client.Object) []ctrlreconcile.Request {
	return found("namespace")
}

func (everything) By(field string) handler.MapFunc {
	return func(context.Context, client.Object) []ctrlreconcile.Request { return found(field) }
}

type queue = workqueue.TypedRateLimitingInterface[ctrlreconcile.Request]

func TestEventsReachTheResourcesThatTheKindSelects(t *testing.T) {
	for name, c := range map[string]struct {
		kind    Kind
		created string
		deleted string
	}{
		"all":                   {Kind{Concerns: Every}, "all", "all"},
		"by a field":            {Kind{Concerns: By("spec.name")}, "spec.name", "spec.name"},
		"others on any event":   {Kind{Concerns: Every, Also: SameNamespace}, "all namespace", "all namespace"},
		"others at the end":     {Kind{Concerns: Every, Freed: SameNamespace}, "all", "all namespace"},
		"others, and at an end": {Kind{Concerns: Every, Also: By("a"), Freed: By("b")}, "all a", "all a b"},
	} {
		handlers := c.kind.handlers(nil, everything{}, nil)
		job := &batchv1.Job{}
		for verb, e := range map[string]struct {
			want string
			send func(handler.EventHandler, queue)
		}{
			"create": {c.created, func(h handler.EventHandler, q queue) { h.Create(t.Context(), event.CreateEvent{Object: job}, q) }},
			"update": {c.created, func(h handler.EventHandler, q queue) {
				h.Update(t.Context(), event.UpdateEvent{ObjectOld: job, ObjectNew: job}, q)
			}},
			"delete": {c.deleted, func(h handler.EventHandler, q queue) { h.Delete(t.Context(), event.DeleteEvent{Object: job}, q) }},
		} {
			q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[ctrlreconcile.Request]())
			for _, h := range handlers {
				e.send(h, q)
			}
			var got []string
			for q.Len() > 0 {
				request, _ := q.Get()
				got = append(got, request.Name)
				q.Done(request)
			}
			q.ShutDown()
			if strings.Join(got, " ") != e.want {
				t.Errorf("%s, %s: got %q, want %q", name, verb, got, e.want)
			}
		}
	}
}

func TestTheControllerIsOutlinedUnderTheNameOfItsKind(t *testing.T) {
	c := declared()
	c.Pipeline = reconcile.Pipeline[struct{}]{{Name: "Berth", Condition: "BerthReady"}}
	outline := c.Outline()
	if outline.Kind != "Harbour" || len(outline.Steps) != 1 || outline.Steps[0].Name != "Berth" {
		t.Errorf("got %+v", outline)
	}
}

func TestAPipelineThatIsNotValidIsNotSetUp(t *testing.T) {
	c := declared()
	c.Pipeline = reconcile.Pipeline[struct{}]{{Name: "Nameless"}}
	err := c.Setup(t.Context(), nil, struct{}{})
	if err == nil || !strings.HasPrefix(err.Error(), "the harbour pipeline: ") {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsMadeIsNewEachTime(t *testing.T) {
	empty := &instance.Harbour{}
	made := Maker(empty)
	one, two := made(), made()
	if one == two || one == empty {
		t.Error("the objects are the same")
	}
}
