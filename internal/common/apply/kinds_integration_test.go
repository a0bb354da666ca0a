//go:build integration

package apply_test

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// drifting builds an object of a kind, which drift changes.
type drifting struct {
	build func(metav1.ObjectMeta) client.Object
	drift func(client.Object)
}

// driftingKinds are kinds that are applied, beside the Deployment and the Service.
var driftingKinds = map[string]drifting{
	"the command of a CronJob": {
		func(meta metav1.ObjectMeta) client.Object {
			cronJob := &batchv1.CronJob{ObjectMeta: meta, Spec: batchv1.CronJobSpec{Schedule: "@daily"}}
			cronJob.Spec.JobTemplate.Spec.Template.Spec = corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "main", Image: "example.com/image:1", Command: []string{"rotate"}}},
			}
			return cronJob
		},
		func(obj client.Object) {
			obj.(*batchv1.CronJob).Spec.JobTemplate.Spec.Template.Spec.Containers[0].Command = []string{"true"}
		},
	},
	"the rules of a Role": {
		func(meta metav1.ObjectMeta) client.Object {
			return &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
				{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"keys"}, Verbs: []string{"get"}},
			}}
		},
		func(obj client.Object) { obj.(*rbacv1.Role).Rules[0].Verbs = []string{"*"} },
	},
	"the ingress of a NetworkPolicy": {
		func(meta metav1.ObjectMeta) client.Object {
			return &networkingv1.NetworkPolicy{ObjectMeta: meta, Spec: networkingv1.NetworkPolicySpec{
				PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
				Ingress: []networkingv1.NetworkPolicyIngressRule{
					{Ports: []networkingv1.NetworkPolicyPort{{Protocol: ptr.To(corev1.ProtocolTCP), Port: ptr.To(intstr.FromInt32(5000))}}},
				},
			}}
		},
		func(obj client.Object) {
			obj.(*networkingv1.NetworkPolicy).Spec.Ingress = []networkingv1.NetworkPolicyIngressRule{{}}
		},
	},
	"the limit of an autoscaler": {
		func(meta metav1.ObjectMeta) client.Object {
			return &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: meta, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
				ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: meta.Name},
				MinReplicas:    ptr.To(int32(2)), MaxReplicas: 5,
			}}
		},
		func(obj client.Object) { obj.(*autoscalingv2.HorizontalPodAutoscaler).Spec.MaxReplicas = 50 },
	},
}

func TestDriftOfAnyAppliedKindIsRepairedOnce(t *testing.T) {
	inCaches(t, func(t *testing.T, newBench func(t *testing.T) *bench) {
		for name, kind := range driftingKinds {
			t.Run(name, func(t *testing.T) {
				b := newBench(t)
				desired := func() client.Object { return kind.build(metav1.ObjectMeta{Name: "thing", Namespace: b.namespace}) }
				if created, again := b.writes(t, desired()), b.writes(t, desired()); created != 1 || again != 0 {
					t.Errorf("%d writes to create it and %d afterwards, want 1 and 0", created, again)
				}
				live := desired()
				b.must(t, b.Get(t.Context(), client.ObjectKeyFromObject(live), live))
				kind.drift(live)
				b.must(t, b.Update(t.Context(), live, client.FieldOwner("somebody")))
				if repairs, again := b.writes(t, desired()), b.writes(t, desired()); repairs != 1 || again != 0 {
					t.Errorf("%d writes to repair it and %d afterwards, want 1 and 0", repairs, again)
				}
			})
		}
	})
}
