//go:build integration

package apply_test

import (
	"context"
	"errors"
	"testing"

	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/thirdparty"
	"github.com/c5c3/forge/internal/common/testutil/transport"
)

var env *envtest.Env

func TestMain(m *testing.M) {
	o := envtest.Options{ThirdParty: []thirdparty.Project{thirdparty.ExternalSecrets}}
	envtest.Main(m, o, func(_ context.Context, started *envtest.Env) error {
		env = started
		return nil
	})
}

// bench is one namespace with an owner and a client that counts requests.
type bench struct {
	client.Client
	counter   *transport.Counter
	namespace string
	owner     *corev1.ConfigMap
	condensed bool
}

func newBench(t *testing.T) *bench {
	t.Helper()
	counter := &transport.Counter{}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), esov1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(counter.Config(env.Config), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{Client: c, counter: counter, namespace: env.Namespace(t)}
	b.owner = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner", Namespace: b.namespace}}
	b.must(t, c.Create(t.Context(), b.owner))
	return b
}

func (b *bench) must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (b *bench) ensure(t *testing.T, obj client.Object) error {
	t.Helper()
	c := b.Client
	if b.condensed {
		c = condensing{c}
	}
	return apply.EnsureObject(t.Context(), c, b.Scheme(), b.owner, obj, apply.FieldManager)
}

// condensing is a client whose cache holds condensed objects.
type condensing struct{ client.Client }

func (c condensing) Get(ctx context.Context, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
	err := c.Client.Get(ctx, key, obj, options...)
	if _, uncached := obj.(*unstructured.Unstructured); uncached || err != nil {
		return err
	}
	// A cache may transform the same object more than once.
	for range 2 {
		if err := apply.Condense(obj, apply.FieldManager); err != nil {
			return err
		}
	}
	switch cached := obj.(type) {
	case *appsv1.Deployment:
		cached.Spec = appsv1.DeploymentSpec{}
	case *corev1.Service:
		cached.Spec = corev1.ServiceSpec{}
	case *batchv1.CronJob:
		cached.Spec = batchv1.CronJobSpec{}
	case *rbacv1.Role:
		cached.Rules = nil
	case *networkingv1.NetworkPolicy:
		cached.Spec = networkingv1.NetworkPolicySpec{}
	case *autoscalingv2.HorizontalPodAutoscaler:
		cached.Spec = autoscalingv2.HorizontalPodAutoscalerSpec{}
	}
	return nil
}

// inCaches runs a test with whole and with condensed objects.
func inCaches(t *testing.T, test func(t *testing.T, newBench func(t *testing.T) *bench)) {
	for name, condensed := range map[string]bool{"whole": false, "condensed": true} {
		t.Run(name, func(t *testing.T) {
			test(t, func(t *testing.T) *bench {
				b := newBench(t)
				b.condensed = condensed
				return b
			})
		})
	}
}

// writes counts the writes of one call.
func (b *bench) writes(t *testing.T, obj client.Object) int {
	t.Helper()
	before := b.counter.Snapshot()
	b.must(t, b.ensure(t, obj))
	return len(b.counter.Since(before).Writes())
}

func (b *bench) service() *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "thing", Namespace: b.namespace, Labels: map[string]string{"app": "thing"}},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": "thing"},
			Ports:    []corev1.ServicePort{{Port: 5000, TargetPort: intstr.FromInt32(5000), Protocol: corev1.ProtocolTCP}},
		},
	}
}

func (b *bench) deployment() *appsv1.Deployment {
	labels := map[string]string{"app": "thing"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "thing", Namespace: b.namespace, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(int32(2)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: map[string]string{"hash": "1"}},
				Spec: corev1.PodSpec{
					NodeSelector: map[string]string{"disk": "fast"},
					Volumes:      []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
					Containers: []corev1.Container{{
						Name: "main", Image: "example.com/image:1", Command: []string{"run", "--fast"},
						Ports:        []corev1.ContainerPort{{Name: "http", ContainerPort: 80, Protocol: corev1.ProtocolTCP}},
						Env:          []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: ""}},
						VolumeMounts: []corev1.VolumeMount{{Name: "scratch", MountPath: "/tmp"}},
					}},
				},
			},
		},
	}
}

// blind is a client with an empty cache.
type blind struct{ client.Client }

func (b blind) Get(ctx context.Context, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
	if _, live := obj.(*unstructured.Unstructured); live {
		return b.Client.Get(ctx, key, obj, options...)
	}
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

func TestACreationIsOneRequest(t *testing.T) {
	b := newBench(t)
	b.Client = blind{b.Client}
	before := b.counter.Snapshot()
	obj := b.deployment()
	b.must(t, b.ensure(t, obj))
	if requests := b.counter.Since(before); len(requests) != 1 {
		t.Errorf("%d requests, want the apply alone:\n%s", len(requests), requests)
	}
	if obj.UID == "" {
		t.Error("the created object was not returned")
	}
	// The result must be the same while the cache lags behind.
	changed := b.deployment()
	changed.Spec.Replicas = ptr.To(int32(3))
	b.must(t, b.ensure(t, changed))
	if changed.UID != obj.UID || *changed.Spec.Replicas != 3 {
		t.Errorf("got %d replicas of %s, want 3 of %s", *changed.Spec.Replicas, changed.UID, obj.UID)
	}
}

func TestAnAppliedObjectIsNotAppliedAgain(t *testing.T) {
	inCaches(t, anAppliedObjectIsNotAppliedAgain)
}

func anAppliedObjectIsNotAppliedAgain(t *testing.T, newBench func(t *testing.T) *bench) {
	for name, build := range map[string]func(*bench) client.Object{
		"Service":    func(b *bench) client.Object { return b.service() },
		"Deployment": func(b *bench) client.Object { return b.deployment() },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if got := b.writes(t, build(b)); got != 1 {
				t.Errorf("%d writes to create it, want 1", got)
			}
			if got := b.writes(t, build(b)); got != 0 {
				t.Errorf("%d writes for an object that is as it should be, want 0", got)
			}
		})
	}
}

func TestDriftOnAnOwnedFieldIsRepaired(t *testing.T) {
	inCaches(t, driftOnAnOwnedFieldIsRepaired)
}

func driftOnAnOwnedFieldIsRepaired(t *testing.T, newBench func(t *testing.T) *bench) {
	for name, drift := range map[string]func(*appsv1.Deployment){
		"an atomic map":      func(d *appsv1.Deployment) { d.Spec.Template.Spec.NodeSelector = map[string]string{"disk": "slow"} },
		"a scalar":           func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To(int32(7)) },
		"an atomic list":     func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Command = []string{"other"} },
		"an item of a list":  func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "example.com/image:2" },
		"a label taken away": func(d *appsv1.Deployment) { delete(d.Labels, "app") },
		"an annotation":      func(d *appsv1.Deployment) { d.Spec.Template.Annotations["hash"] = "2" },
		"an owner reference": func(d *appsv1.Deployment) { d.OwnerReferences = nil },
		"an environment variable": func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers[0].Env = d.Spec.Template.Spec.Containers[0].Env[:1]
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.must(t, b.ensure(t, b.deployment()))
			b.must(t, b.ensure(t, b.deployment()))
			live := &appsv1.Deployment{}
			b.must(t, b.Get(t.Context(), client.ObjectKeyFromObject(b.deployment()), live))
			drift(live)
			b.must(t, b.Update(t.Context(), live, client.FieldOwner("somebody")))
			if got := b.writes(t, b.deployment()); got != 1 {
				t.Errorf("%d writes to repair it, want 1", got)
			}
			if got := b.writes(t, b.deployment()); got != 0 {
				t.Errorf("%d writes after the repair, want 0", got)
			}
		})
	}
}

func TestForeignFieldsAreKeptWithoutARequest(t *testing.T) {
	inCaches(t, fieldsOfOthersSurviveAndCostNothing)
}

func fieldsOfOthersSurviveAndCostNothing(t *testing.T, newBench func(t *testing.T) *bench) {
	b := newBench(t)
	b.must(t, b.ensure(t, b.deployment()))
	live := &appsv1.Deployment{}
	b.must(t, b.Get(t.Context(), client.ObjectKeyFromObject(b.deployment()), live))
	live.Annotations = map[string]string{"theirs": "yes"}
	live.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	live.Spec.Template.Spec.Containers[0].Env = append(live.Spec.Template.Spec.Containers[0].Env, corev1.EnvVar{Name: "THEIRS", Value: "1"})
	b.must(t, b.Update(t.Context(), live, client.FieldOwner("somebody")))
	if got := b.writes(t, b.deployment()); got != 0 {
		t.Errorf("%d writes because of somebody else's fields, want 0", got)
	}
	changed := b.deployment()
	changed.Spec.Replicas = ptr.To(int32(3))
	b.must(t, b.ensure(t, changed))
	if changed.Annotations["theirs"] != "yes" || len(changed.Spec.Template.Spec.Containers[0].Env) != 3 {
		t.Errorf("the fields of others are gone: %v, %v", changed.Annotations, changed.Spec.Template.Spec.Containers[0].Env)
	}
}

func TestAnOwnedFieldThatIsNoLongerDesiredIsRemoved(t *testing.T) {
	inCaches(t, aFieldThatIsNoLongerWantedGoes)
}

func aFieldThatIsNoLongerWantedGoes(t *testing.T, newBench func(t *testing.T) *bench) {
	b := newBench(t)
	b.must(t, b.ensure(t, b.deployment()))
	fewer := b.deployment()
	fewer.Spec.Template.Annotations = nil
	fewer.Spec.Template.Spec.Containers[0].Env = fewer.Spec.Template.Spec.Containers[0].Env[:1]
	if got := b.writes(t, fewer); got != 1 {
		t.Errorf("%d writes to take fields away, want 1", got)
	}
	if len(fewer.Spec.Template.Annotations) != 0 || len(fewer.Spec.Template.Spec.Containers[0].Env) != 1 {
		t.Errorf("still there: %v, %v", fewer.Spec.Template.Annotations, fewer.Spec.Template.Spec.Containers[0].Env)
	}
}

func TestAForeignObjectIsRefused(t *testing.T) {
	for name, controller := range map[string]*metav1.OwnerReference{
		"without a controller": nil,
		"with another controller": {
			APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: "other-uid", Controller: ptr.To(true),
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			theirs := b.service()
			theirs.Spec.Selector = map[string]string{"app": "theirs"}
			if controller != nil {
				theirs.OwnerReferences = []metav1.OwnerReference{*controller}
			}
			b.must(t, b.Create(t.Context(), theirs))
			seeing := b.Client
			for what, c := range map[string]client.Client{"seen": seeing, "not seen": blind{seeing}} {
				b.Client = c
				if err := b.ensure(t, b.service()); !errors.Is(err, apply.ErrNotOwned) {
					t.Errorf("%s: error %v, want %v", what, err, apply.ErrNotOwned)
				}
			}
			live := &corev1.Service{}
			b.must(t, seeing.Get(t.Context(), client.ObjectKeyFromObject(theirs), live))
			if live.ResourceVersion != theirs.ResourceVersion {
				t.Errorf("the Service of somebody else was changed: %v", live)
			}
		})
	}
}

func TestAnApplyFromAStaleResourceVersionIsAConflict(t *testing.T) {
	b := newBench(t)
	first := b.service()
	first.ResourceVersion = apply.NoObject
	b.must(t, b.ensure(t, first))
	for name, basis := range map[string]string{"none": apply.NoObject, "an older one": first.ResourceVersion} {
		live := b.service()
		b.must(t, b.Get(t.Context(), client.ObjectKeyFromObject(live), live))
		live.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
		live.Annotations = map[string]string{"example.com/changed-after": name}
		b.must(t, b.Update(t.Context(), live))
		changed := b.service()
		changed.ResourceVersion = basis
		changed.Spec.SessionAffinity = corev1.ServiceAffinityNone
		if err := b.ensure(t, changed); !apierrors.IsConflict(err) {
			t.Errorf("built from %s: got %v, expected a conflict", name, err)
		}
		again := b.service()
		again.ResourceVersion = live.ResourceVersion
		again.Spec.SessionAffinity = corev1.ServiceAffinityNone
		b.must(t, b.ensure(t, again))
		if again.Spec.SessionAffinity != corev1.ServiceAffinityNone {
			t.Errorf("built from what there is: got %s", again.Spec.SessionAffinity)
		}
	}
}

func TestEnsureAbsentDeletesOnlyOwnedObjects(t *testing.T) {
	b := newBench(t)
	b.must(t, b.ensure(t, b.service()))
	b.must(t, apply.EnsureAbsent(t.Context(), b.Client, b.owner, b.service()))
	before := b.counter.Snapshot()
	b.must(t, apply.EnsureAbsent(t.Context(), b.Client, b.owner, b.service()))
	if writes := b.counter.Since(before).Writes(); len(writes) != 0 {
		t.Errorf("writes for an object that is absent:\n%s", writes)
	}
	b.must(t, b.Create(t.Context(), b.service()))
	b.must(t, apply.EnsureAbsent(t.Context(), b.Client, b.owner, b.service()))
	if err := b.Get(t.Context(), client.ObjectKeyFromObject(b.service()), &corev1.Service{}); err != nil {
		t.Errorf("a Service of somebody else was deleted: %v", err)
	}
}
