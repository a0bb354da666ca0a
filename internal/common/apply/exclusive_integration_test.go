//go:build integration

package apply_test

import (
	"context"
	"errors"
	"testing"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
)

func budget(meta metav1.ObjectMeta) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{ObjectMeta: meta, Spec: policyv1.PodDisruptionBudgetSpec{
		MinAvailable: ptr.To(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "thing"}},
	}}
}

func pushSecret(meta metav1.ObjectMeta) *esov1alpha1.PushSecret {
	return &esov1alpha1.PushSecret{ObjectMeta: meta, Spec: esov1alpha1.PushSecretSpec{
		SecretStoreRefs: []esov1alpha1.PushSecretStoreRef{{Name: "store", Kind: esov1.ClusterSecretStoreKind}},
		Selector:        esov1alpha1.PushSecretSelector{Secret: &esov1alpha1.PushSecretSecret{Name: "thing"}},
	}}
}

// fullPod has one of each kind of field of a pod that excludes others.
func fullPod() corev1.PodSpec {
	named := func(path string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
	}
	return corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyAlways,
		Volumes: []corev1.Volume{
			{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: "config"},
			}}},
		},
		Containers: []corev1.Container{{
			Name: "main", Image: "example.com/image:1",
			Ports:         []corev1.ContainerPort{{Name: "http", ContainerPort: 80, Protocol: corev1.ProtocolTCP}},
			Env:           []corev1.EnvVar{{Name: "VALUE", Value: "1"}, {Name: "SOURCE", ValueFrom: named("metadata.name")}},
			VolumeMounts:  []corev1.VolumeMount{{Name: "data", MountPath: "/data", SubPath: "a"}},
			LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(80)}}},
			Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{
				Exec: &corev1.ExecAction{Command: []string{"drain"}},
			}},
		}},
	}
}

// exclusivePodFields change fields of [fullPod] to others that exclude them.
var exclusivePodFields = map[string]func(*corev1.PodSpec){
	"the source of a volume": func(pod *corev1.PodSpec) {
		pod.Volumes[1].VolumeSource = corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "config"}}
	},
	"the value of a variable": func(pod *corev1.PodSpec) {
		pod.Containers[0].Env[0] = corev1.EnvVar{Name: "VALUE", ValueFrom: pod.Containers[0].Env[1].ValueFrom}
	},
	"the source of a variable": func(pod *corev1.PodSpec) {
		pod.Containers[0].Env[1] = corev1.EnvVar{Name: "SOURCE", Value: "1"}
	},
	"the kind of source of a variable": func(pod *corev1.PodSpec) {
		pod.Containers[0].Env[1].ValueFrom = &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "login"}, Key: "password",
		}}
	},
	"the number of a port": func(pod *corev1.PodSpec) { pod.Containers[0].Ports[0].ContainerPort = 81 },
	"the path in a volume": func(pod *corev1.PodSpec) {
		pod.Containers[0].VolumeMounts[0].SubPath, pod.Containers[0].VolumeMounts[0].SubPathExpr = "", "$(VALUE)"
	},
	"the handler of a probe": func(pod *corev1.PodSpec) {
		pod.Containers[0].LivenessProbe.ProbeHandler = corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}
	},
	"the handler of a hook": func(pod *corev1.PodSpec) {
		pod.Containers[0].Lifecycle.PreStop = &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 3}}
	},
	"two at once": func(pod *corev1.PodSpec) {
		pod.Volumes[1].VolumeSource = corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
		pod.Containers[0].LivenessProbe.ProbeHandler = corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}}
	},
}

// exclusive returns objects with fields that exclude others, and their changes to the others.
func exclusive(b *bench) map[string]drifting {
	cases := map[string]drifting{
		"PodDisruptionBudget": {
			func(meta metav1.ObjectMeta) client.Object { return budget(meta) },
			func(obj client.Object) {
				spec := &obj.(*policyv1.PodDisruptionBudget).Spec
				spec.MinAvailable, spec.MaxUnavailable = nil, ptr.To(intstr.FromInt32(2))
			},
		},
		"Service, the only port": {
			func(metav1.ObjectMeta) client.Object { return b.service() },
			func(obj client.Object) { obj.(*corev1.Service).Spec.Ports[0].Port = 5001 },
		},
		"Deployment, the strategy": {
			func(metav1.ObjectMeta) client.Object {
				deploy := b.deployment()
				deploy.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType
				return deploy
			},
			func(obj client.Object) {
				obj.(*appsv1.Deployment).Spec.Strategy = appsv1.DeploymentStrategy{
					Type:          appsv1.RollingUpdateDeploymentStrategyType,
					RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: ptr.To(intstr.FromInt32(3))},
				}
			},
		},
		// Its rules are in the schema of a CustomResourceDefinition.
		"PushSecret, what is selected": {
			func(meta metav1.ObjectMeta) client.Object { return pushSecret(meta) },
			func(obj client.Object) {
				obj.(*esov1alpha1.PushSecret).Spec.Selector = esov1alpha1.PushSecretSelector{
					GeneratorRef: &esov1.GeneratorRef{APIVersion: "generators.external-secrets.io/v1alpha1", Kind: "Password", Name: "thing"},
				}
			},
		},
		"CronJob, the source of a volume": {
			func(meta metav1.ObjectMeta) client.Object {
				cronJob := &batchv1.CronJob{ObjectMeta: meta, Spec: batchv1.CronJobSpec{Schedule: "@daily"}}
				cronJob.Spec.JobTemplate.Spec.Template.Spec = fullPod()
				cronJob.Spec.JobTemplate.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
				return cronJob
			},
			func(obj client.Object) {
				exclusivePodFields["the source of a volume"](&obj.(*batchv1.CronJob).Spec.JobTemplate.Spec.Template.Spec)
			},
		},
	}
	for name, change := range exclusivePodFields {
		cases["Deployment, "+name] = drifting{
			func(metav1.ObjectMeta) client.Object {
				deploy := b.deployment()
				deploy.Spec.Template.Spec = fullPod()
				return deploy
			},
			func(obj client.Object) { change(&obj.(*appsv1.Deployment).Spec.Template.Spec) },
		}
	}
	return cases
}

func TestFieldsThatExcludeAppliedOnesAreRemoved(t *testing.T) {
	inCaches(t, func(t *testing.T, newBench func(t *testing.T) *bench) {
		for name := range exclusive(nil) {
			t.Run(name, func(t *testing.T) {
				b := newBench(t)
				kind := exclusive(b)[name]
				desired := func() client.Object { return kind.build(metav1.ObjectMeta{Name: "thing", Namespace: b.namespace}) }
				b.must(t, b.ensure(t, desired()))
				live := desired()
				b.must(t, b.Get(t.Context(), client.ObjectKeyFromObject(live), live))
				kind.drift(live)
				live.SetAnnotations(map[string]string{"example.com/theirs": "yes"})
				b.must(t, b.Update(t.Context(), live, client.FieldOwner("somebody")))
				repaired := desired()
				b.must(t, b.ensure(t, repaired))
				if repaired.GetAnnotations()["example.com/theirs"] != "yes" {
					t.Error("the annotation of another manager is gone")
				}
				if got := b.writes(t, desired()); got != 0 {
					t.Errorf("%d writes after the repair, want 0", got)
				}
			})
		}
	})
}

func TestAppliedFieldsCanChangeToOnesThatExcludeThem(t *testing.T) {
	for name := range exclusive(nil) {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			kind := exclusive(b)[name]
			desired := func() client.Object { return kind.build(metav1.ObjectMeta{Name: "thing", Namespace: b.namespace}) }
			changed := func() client.Object { obj := desired(); kind.drift(obj); return obj }
			for range 2 {
				b.must(t, b.ensure(t, desired()))
				b.must(t, b.ensure(t, changed()))
				if got := b.writes(t, changed()); got != 0 {
					t.Errorf("%d writes after the change, want 0", got)
				}
			}
		})
	}
}

func TestOnlyFieldsThatExcludeAppliedOnesAreRemoved(t *testing.T) {
	b := newBench(t)
	meta := metav1.ObjectMeta{Name: "thing", Namespace: b.namespace}
	b.must(t, b.ensure(t, budget(meta)))
	live := budget(meta)
	b.must(t, b.Get(t.Context(), client.ObjectKeyFromObject(live), live))
	live.Spec.MinAvailable, live.Spec.MaxUnavailable = nil, ptr.To(intstr.FromInt32(2))
	live.Spec.UnhealthyPodEvictionPolicy = ptr.To(policyv1.AlwaysAllow)
	b.must(t, b.Update(t.Context(), live, client.FieldOwner("somebody")))
	refused := budget(meta)
	refused.Spec.MinAvailable = ptr.To(intstr.FromString("many"))
	if err := b.ensure(t, refused); !apierrors.IsInvalid(err) {
		t.Errorf("a value that is invalid anyway: got %v", err)
	}
	b.must(t, b.Get(t.Context(), client.ObjectKeyFromObject(live), live))
	if live.Spec.MaxUnavailable == nil {
		t.Error("a refused apply has removed a field")
	}
	repaired := budget(meta)
	b.must(t, b.ensure(t, repaired))
	if repaired.Spec.MaxUnavailable != nil || ptr.Deref(repaired.Spec.UnhealthyPodEvictionPolicy, "") != policyv1.AlwaysAllow {
		t.Errorf("got %+v, want minAvailable and the eviction policy of the other manager", repaired.Spec)
	}
	for _, entry := range repaired.ManagedFields {
		if owns, err := apply.Owns(repaired, apply.FieldManager, entry.APIVersion, "spec", "maxUnavailable"); owns || err != nil {
			t.Errorf("the operator owns the removed field: %v", err)
		}
	}
}

// dying is a client of a process that is killed after some patches.
type dying struct {
	client.Client
	left int
}

var errKilled = errors.New("killed")

func (d *dying) Patch(ctx context.Context, obj client.Object, patch client.Patch, options ...client.PatchOption) error {
	if d.left--; d.left < 0 {
		return errKilled
	}
	return d.Client.Patch(ctx, obj, patch, options...)
}

func TestAProcessKilledWhileItRemovesExclusiveFieldsIsFollowedByOneThatDoes(t *testing.T) {
	for patches := range 10 {
		b := newBench(t)
		meta, alive := metav1.ObjectMeta{Name: "thing", Namespace: b.namespace}, b.Client
		b.must(t, b.ensure(t, budget(meta)))
		live := budget(meta)
		b.must(t, alive.Get(t.Context(), client.ObjectKeyFromObject(live), live))
		live.Spec.MinAvailable, live.Spec.MaxUnavailable = nil, ptr.To(intstr.FromInt32(2))
		b.must(t, b.Update(t.Context(), live, client.FieldOwner("somebody")))
		b.Client = &dying{alive, patches}
		err := b.ensure(t, budget(meta))
		if err != nil && !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		b.Client = alive
		repaired := budget(meta)
		b.must(t, b.ensure(t, repaired))
		if repaired.Spec.MaxUnavailable != nil || b.writes(t, budget(meta)) != 0 {
			t.Errorf("killed after %d patches: got %+v", patches, repaired.Spec)
		}
		if err == nil {
			return
		}
	}
	t.Error("it needs more patches than expected")
}
