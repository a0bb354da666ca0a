package refs

import (
	"context"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllertest"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// metadataCache reads from a client and has one informer for all kinds.
type metadataCache struct {
	cache.Cache
	client.Client
	informer *controllertest.FakeInformer
}

func (m metadataCache) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	return m.Client.Get(ctx, key, obj, opts...)
}

func (m metadataCache) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return m.Client.List(ctx, list, opts...)
}

func (m metadataCache) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return m.informer, nil
}

func (m metadataCache) WaitForCacheSync(context.Context) bool { return true }

// bench is a Reader of a fake cluster that counts its requests.
type bench struct {
	client.Client
	*Reader
	informer *controllertest.FakeInformer
	requests int
	// during, if set, runs after the API server has answered a request.
	during func()
}

func newBench() *bench {
	b := &bench{Client: fake.NewFakeClient(), informer: controllertest.NewFakeInformer(controllertest.Synced)}
	live := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
		Get: func(ctx context.Context, _ client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			b.requests++
			err := b.Client.Get(ctx, key, obj, opts...)
			if b.during != nil {
				b.during()
			}
			return err
		},
	})
	b.Reader = newReader(metadataCache{Client: b.Client, informer: b.informer}, live)
	return b
}

// kept returns the number of objects whose content is kept.
func (r *Reader) kept() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.content)
}

func secret(name, password string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "openstack", Name: name}, Data: map[string][]byte{"password": []byte(password)},
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (b *bench) read(t *testing.T, name, want string, requests int) {
	t.Helper()
	before := b.requests
	var got corev1.Secret
	must(t, b.Reader.Get(t.Context(), client.ObjectKey{Namespace: "openstack", Name: name}, &got))
	if string(got.Data["password"]) != want || b.requests-before != requests {
		t.Errorf("read %q from Secret %s with %d requests, want %q with %d",
			got.Data["password"], name, b.requests-before, want, requests)
	}
}

func TestAnUnchangedObjectIsReadWithoutARequest(t *testing.T) {
	b := newBench()
	s := secret("admin", "one")
	must(t, b.Create(t.Context(), s))
	b.read(t, "admin", "one", 1)
	b.read(t, "admin", "one", 0)
	s.Data["password"] = []byte("two")
	must(t, b.Update(t.Context(), s))
	b.read(t, "admin", "two", 1)
	b.read(t, "admin", "two", 0)
}

func TestReturnedObjectsAreCopies(t *testing.T) {
	b := newBench()
	must(t, b.Create(t.Context(), secret("admin", "one")))
	var got corev1.Secret
	must(t, b.Reader.Get(t.Context(), client.ObjectKey{Namespace: "openstack", Name: "admin"}, &got))
	copy(got.Data["password"], "XXX")
	b.read(t, "admin", "one", 0)
}

func TestTheContentOfADeletedObjectLeavesMemory(t *testing.T) {
	b := newBench()
	s := secret("admin", "one")
	must(t, b.Create(t.Context(), s))
	must(t, b.Create(t.Context(), secret("other", "other")))
	b.read(t, "admin", "one", 1)
	b.read(t, "other", "other", 1)
	var mapped []string
	watch := b.SecretSource(func(_ context.Context, obj client.Object) []reconcile.Request {
		mapped = append(mapped, obj.GetName())
		return nil
	})
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	must(t, watch.Start(t.Context(), queue))
	syncing, ok := watch.(source.TypedSyncingSource[reconcile.Request])
	if !ok {
		t.Fatalf("%T cannot be waited for", watch)
	}
	must(t, syncing.WaitForSync(t.Context()))
	b.informer.Delete(s)
	if got := b.kept(); got != 1 {
		t.Errorf("the content of %d objects is kept after the deletion of one of two, want 1", got)
	}
	if len(mapped) != 1 || mapped[0] != "admin" {
		t.Errorf("the deletion was mapped for %q, want admin", mapped)
	}
	b.read(t, "other", "other", 0)
}

func TestTheContentOfAnObjectDeletedDuringAReadIsNotCached(t *testing.T) {
	b := newBench()
	s := secret("admin", "one")
	must(t, b.Create(t.Context(), s))
	b.during = func() { must(t, b.Delete(t.Context(), s)) }
	b.read(t, "admin", "one", 1)
	if got := b.kept(); got != 0 {
		t.Errorf("the content of %d objects is kept, want 0", got)
	}
}

func TestAMissingObjectIsNotFoundAndEvicted(t *testing.T) {
	b := newBench()
	s := secret("admin", "one")
	must(t, b.Create(t.Context(), s))
	b.read(t, "admin", "one", 1)
	must(t, b.Delete(t.Context(), s))
	if err := b.Reader.Get(t.Context(), client.ObjectKeyFromObject(s), &corev1.Secret{}); !apierrors.IsNotFound(err) {
		t.Errorf("got error %v, want one that says not found", err)
	}
	if got := b.kept(); got != 0 {
		t.Errorf("the content of %d objects is kept, want 0", got)
	}
}

func TestOnlyReferencedObjectsStayCached(t *testing.T) {
	b := newBench()
	referenced := map[string]bool{}
	b.SecretSource(func(_ context.Context, obj client.Object) []reconcile.Request {
		if obj.GetNamespace() != "openstack" || !referenced[obj.GetName()] {
			return nil
		}
		return []reconcile.Request{{}}
	})
	const many = 1200
	for i := range many {
		name := strconv.Itoa(i)
		referenced[name] = true
		must(t, b.Create(t.Context(), secret(name, name)))
		b.read(t, name, name, 1)
	}
	b.sweep(t.Context())
	for name := range referenced {
		b.read(t, name, name, 0)
	}
	for i := range many / 2 {
		referenced[strconv.Itoa(i)] = false
	}
	b.sweep(t.Context())
	if got := b.kept(); got != many/2 {
		t.Errorf("the content of %d objects is kept, want %d", got, many/2)
	}
	b.read(t, strconv.Itoa(many-1), strconv.Itoa(many-1), 0)
}

func TestAKindThatCannotBeReferencedIsAnError(t *testing.T) {
	if err := newBench().Reader.Get(t.Context(), client.ObjectKey{Name: "a"}, &corev1.Pod{}); err == nil {
		t.Error("no error for a Pod")
	}
}
