package reconcile

import (
	"context"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

var thingVersion = schema.GroupVersion{Group: "test.c5c3.io", Version: "v1"}

// thing is the smallest custom resource that the engine can run.
type thing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Status            thingStatus `json:"status"`
}

type thingStatus struct {
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Ready              bool               `json:"ready,omitempty"`
}

type thingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []thing `json:"items"`
}

func (t *thing) DeepCopyObject() runtime.Object {
	c := *t
	t.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	c.Status.Conditions = slices.Clone(t.Status.Conditions)
	return &c
}

func (l *thingList) DeepCopyObject() runtime.Object {
	c := *l
	c.Items = slices.Clone(l.Items)
	return &c
}

func (t *thing) GetConditions() []metav1.Condition      { return t.Status.Conditions }
func (t *thing) SetConditions(c []metav1.Condition)     { t.Status.Conditions = c }
func (t *thing) SetObservedGeneration(generation int64) { t.Status.ObservedGeneration = generation }
func (t *thing) StatusCopy() any {
	return thingStatus{
		Conditions: slices.Clone(t.Status.Conditions), ObservedGeneration: t.Status.ObservedGeneration, Ready: t.Status.Ready,
	}
}

// world runs an engine with a single step whose outcome the test sets.
type world struct {
	client.Client
	reconciler   *Reconciler[*thing, *thing]
	recorder     *events.FakeRecorder
	outcome      Outcome
	guard        error
	statusWrites int
	statusError  error
	forgotten    []string
}

func newWorld(t *testing.T, obj *thing) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(thingVersion, &thing{}, &thingList{})
	metav1.AddToGroupVersion(scheme, thingVersion)
	w := &world{recorder: events.NewFakeRecorder(100), outcome: Done("Fine", "all well")}
	w.Client = fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&thing{}).WithObjects(obj).
		WithInterceptorFuncs(interceptor.Funcs{
			SubResourceUpdate: func(
				ctx context.Context, c client.Client, sub string, obj client.Object, opts ...client.SubResourceUpdateOption,
			) error {
				w.statusWrites++
				if w.statusError != nil {
					return w.statusError
				}
				return c.SubResource(sub).Update(ctx, obj, opts...)
			},
		}).Build()
	step := Step[*thing]{
		Name: "Step", Condition: "StepReady", Announce: []string{"Fine"},
		Run: func(context.Context, *thing) Outcome { return w.outcome },
	}
	w.reconciler = &Reconciler[*thing, *thing]{
		Client: w.Client, Recorder: w.recorder,
		New:        func() *thing { return &thing{} },
		Guard:      func(*thing) error { return w.guard },
		Scope:      func(obj *thing) *thing { return obj },
		Pipeline:   Pipeline[*thing]{step},
		Finalizers: []Finalizer[*thing]{{Name: "test.c5c3.io/first", Step: step}, {Name: "test.c5c3.io/second", Step: step}},
		Forget:     func(name client.ObjectKey) { w.forgotten = append(w.forgotten, name.Name) },
	}
	return w
}

func someThing() *thing {
	return &thing{ObjectMeta: metav1.ObjectMeta{Name: "thing", Namespace: "default", Generation: 1}}
}

func (w *world) pass(t *testing.T) (ctrl.Result, error) {
	t.Helper()
	return w.reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(someThing())})
}

func (w *world) get(t *testing.T) *thing {
	t.Helper()
	obj := &thing{}
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(someThing()), obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

func (w *world) events() []string {
	var seen []string
	for len(w.recorder.Events) > 0 {
		seen = append(seen, <-w.recorder.Events)
	}
	return seen
}
