package watches

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A pod stands in for a resource that refers to a Secret, by the name of its
// service account.
const field = "spec.serviceAccountName"

func pod(namespace, name, refersTo string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: corev1.PodSpec{ServiceAccountName: refersTo}}
}

func about(namespace, name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// builder gives a fake client the index that a cache would have.
type builder struct {
	*fake.ClientBuilder
	err error
}

func (b builder) IndexField(_ context.Context, obj client.Object, field string, index client.IndexerFunc) error {
	if index(&corev1.Secret{}) != nil {
		return errors.New("something else is indexed, too")
	}
	b.WithIndex(obj, field, index)
	return b.err
}

func finder(t *testing.T, b builder) Mapper[*corev1.Pod] {
	t.Helper()
	find := Mapper[*corev1.Pod]{Plural: "Pods", NewList: func() client.ObjectList { return &corev1.PodList{} }}
	err := find.Index(t.Context(), b, &corev1.Pod{}, map[string]func(*corev1.Pod) []string{
		field: func(p *corev1.Pod) []string { return []string{p.Spec.ServiceAccountName} },
	})
	if err != nil {
		t.Fatal(err)
	}
	find.Reader = b.Build()
	return find
}

func names(requests []reconcile.Request) []string {
	var found []string
	for _, request := range requests {
		found = append(found, request.String())
	}
	slices.Sort(found)
	return found
}

func TestAnEventIsMappedToTheAffectedResources(t *testing.T) {
	find := finder(t, builder{ClientBuilder: fake.NewClientBuilder().WithObjects(
		pod("here", "one", "db"), pod("here", "two", "admin"), pod("there", "three", "db"),
	)})
	for name, c := range map[string]struct {
		find  func(context.Context, client.Object) []reconcile.Request
		about client.Object
		want  []string
	}{
		"by the name it refers to":        {find.By(field), about("here", "db"), []string{"here/one"}},
		"by a name that nobody refers to": {find.By(field), about("here", "other"), nil},
		"in its namespace":                {find.SameNamespace, about("here", "other"), []string{"here/one", "here/two"}},
		"in all namespaces for any event": {find.All, about("", ""), []string{"here/one", "here/two", "there/three"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := names(c.find(t.Context(), c.about)); !slices.Equal(got, c.want) {
				t.Errorf("found %v, want %v", got, c.want)
			}
		})
	}
}

func TestAFailedListMapsAnEventToNothing(t *testing.T) {
	find := finder(t, builder{ClientBuilder: fake.NewClientBuilder().WithObjects(pod("here", "one", "db")).
		WithInterceptorFuncs(interceptor.Funcs{
			List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
				return errors.New("the cache is not started")
			},
		})})
	if got := find.All(t.Context(), about("", "")); len(got) > 0 {
		t.Errorf("found %v", got)
	}
}

func TestAListOfAnotherKindMapsAnEventToNothing(t *testing.T) {
	find := Mapper[*corev1.Pod]{
		Plural: "Pods", NewList: func() client.ObjectList { return &corev1.SecretList{} },
		Reader: fake.NewClientBuilder().WithObjects(about("here", "db")).Build(),
	}
	if got := find.All(t.Context(), about("", "")); len(got) > 0 {
		t.Errorf("found %v", got)
	}
}

func TestAFieldThatCannotBeIndexedIsNamed(t *testing.T) {
	err := Mapper[*corev1.Pod]{Plural: "Pods"}.Index(t.Context(),
		builder{ClientBuilder: fake.NewClientBuilder(), err: errors.New("the cache has started")},
		&corev1.Pod{}, map[string]func(*corev1.Pod) []string{field: func(*corev1.Pod) []string { return nil }})
	if err == nil || !strings.Contains(err.Error(), "indexing Pods by "+field+": the cache has started") {
		t.Errorf("got %v", err)
	}
}

func TestAResyncReachesEveryResourceAndNeverBlocks(t *testing.T) {
	resync := NewResync()
	// There is no receiver yet.
	resync.Send()
	resync.Send()
	queue := workqueue.NewTypedRateLimitingQueue(RateLimiter())
	t.Cleanup(queue.ShutDown)
	one := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "here", Name: "one"}}
	all := func(context.Context, client.Object) []reconcile.Request { return []reconcile.Request{one} }
	if err := resync.Source(all).Start(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, _ := queue.Get()
		if got != one {
			t.Fatalf("asked for %v", got)
		}
		queue.Forget(got)
		queue.Done(got)
		resync.Send()
	}
}

func TestAFailingResourceIsTriedAtOnceAndNeverLessOftenThanEveryHalfMinute(t *testing.T) {
	limiter := RateLimiter()
	failing := reconcile.Request{NamespacedName: client.ObjectKey{Name: "failing"}}
	if first := limiter.When(failing); first > 10*time.Millisecond {
		t.Errorf("the first retry comes after %s", first)
	}
	var last time.Duration
	for range 30 {
		last = limiter.When(failing)
	}
	if last != 30*time.Second {
		t.Errorf("it is tried every %s", last)
	}
	limiter.Forget(failing)
	if again := limiter.When(failing); again > 10*time.Millisecond {
		t.Errorf("after a success the first retry comes after %s", again)
	}
}

func TestTheRetriesOfAllResourcesTogetherAreBounded(t *testing.T) {
	// In a synctest bubble time is virtual: it does not advance while the retries
	// are computed.
	synctest.Test(t, func(t *testing.T) {
		limiter := RateLimiter()
		var last time.Duration
		for i := range 150 {
			last = limiter.When(reconcile.Request{NamespacedName: client.ObjectKey{Name: "resource", Namespace: string(rune('a' + i))}})
		}
		if last.Round(time.Millisecond) != 5*time.Second {
			t.Errorf("the last of 150 first retries comes after %s, want 5 s: 100 at once, and 10 a second", last)
		}
	})
}

func TestResourcesWithTheSameKeyAreFoundInAllNamespaces(t *testing.T) {
	b := builder{ClientBuilder: fake.NewClientBuilder().WithObjects(
		pod("a", "one", "x"), pod("b", "two", "x"), pod("b", "three", "y"))}
	sharing := finder(t, b).Sharing(field, func(obj client.Object) []string {
		if p, ok := obj.(*corev1.Pod); ok {
			return []string{p.Spec.ServiceAccountName}
		}
		return []string{obj.GetName()}
	})
	if got := names(sharing(t.Context(), pod("a", "one", "x"))); !slices.Equal(got, []string{"a/one", "b/two"}) {
		t.Errorf("found %q, want a/one and b/two", got)
	}
	if got := names(sharing(t.Context(), about("a", "y"))); !slices.Equal(got, []string{"b/three"}) {
		t.Errorf("an event of another kind concerns %q, want b/three", got)
	}
}
