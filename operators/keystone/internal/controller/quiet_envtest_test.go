//go:build integration

package controller_test

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// pass makes the operator look at the Keystone once more, by a change of its
// connection Secret that is none of the operator's business, and returns the
// requests that this took. Discovery is left out, and so are events, which are
// written beside the passes: those of an earlier one may come late.
func pass(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, operator *testutil.Operator) transport.Requests {
	t.Helper()
	before := operator.Requests.Snapshot()
	connection := secret(k.Namespace, k.Name+"-db-connection", nil)
	objects.Change(t, c, connection, func(s *corev1.Secret) {
		metav1.SetMetaDataAnnotation(&s.ObjectMeta, "example.com/touched", s.ResourceVersion)
	})
	operator.Passed(t, client.ObjectKeyFromObject(k), connection)
	return operator.Requests.Since(before).Filter(func(r transport.Request) bool { return r.Resource != "" && !r.Event() })
}

// settle lets passes go by until one takes no request: what was under way when
// the Keystone became ready is then over.
func settle(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, operator *testutil.Operator) {
	t.Helper()
	expect.Eventually(t, "a pass without a request", func(context.Context) error {
		if requests := pass(t, c, k, operator); len(requests) > 0 {
			return fmt.Errorf("the last pass took %d:\n%s", len(requests), requests)
		}
		return nil
	})
}

func TestOptionalPartsCostNothingOnceTheyAreApplied(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[0])
	objects.Change(t, c, k, func(k *keystonev1alpha1.Keystone) {
		k.Spec.NetworkPolicy = &commonv1.NetworkPolicySpec{
			Ingress: []commonv1.NetworkPolicyIngressSource{{NamespaceSelector: map[string]string{"team": "cloud"}}},
			// The API server fills in the protocol.
			AdditionalEgress: []networkingv1.NetworkPolicyEgressRule{{
				Ports: []networkingv1.NetworkPolicyPort{{Port: ptr.To(intstr.FromInt32(636))}},
			}},
		}
		k.Spec.Autoscaling = &commonv1.AutoscalingSpec{MaxReplicas: 5, TargetCPUUtilization: ptr.To(int32(80))}
	})
	expect.Condition(t, c, k, "NetworkPolicyReady", metav1.ConditionTrue, "NetworkPolicyReady")
	expect.Condition(t, c, k, "HPAReady", metav1.ConditionTrue, "HPAReady")
	ready(t, c, k)
	settle(t, c, k, operator)

	objects.Change(t, c, k, func(k *keystonev1alpha1.Keystone) { k.Spec.NetworkPolicy, k.Spec.Autoscaling = nil, nil })
	expect.Condition(t, c, k, "NetworkPolicyReady", metav1.ConditionTrue, "NetworkPolicyNotRequired")
	expect.Condition(t, c, k, "HPAReady", metav1.ConditionTrue, "HPANotRequired")
	ready(t, c, k)
	settle(t, c, k, operator)
}

func TestAutoscalingStartsFromTheReplicasThatRun(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[0])
	objects.Change(t, c, k, func(k *keystonev1alpha1.Keystone) { k.Spec.Replicas = 3 })
	ready(t, c, k)
	objects.Change(t, c, k, func(k *keystonev1alpha1.Keystone) {
		k.Spec.Autoscaling = &commonv1.AutoscalingSpec{MaxReplicas: 5, TargetCPUUtilization: ptr.To(int32(80))}
	})
	expect.Condition(t, c, k, "HPAReady", metav1.ConditionTrue, "HPAReady")
	ready(t, c, k)
	deploy := deploymentOf(k)
	expect.Exists(t, c, deploy)
	if got := ptr.Deref(deploy.Spec.Replicas, 0); got != 3 {
		t.Fatalf("%d replicas after autoscaling was turned on, want the 3 that ran", got)
	}
	// What the autoscaler decides stays.
	objects.Change(t, c, deploy, func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To(int32(5)) })
	operator.Sees(t, deploy)
	settle(t, c, k, operator)
	expect.Exists(t, c, deploy)
	if got := ptr.Deref(deploy.Spec.Replicas, 0); got != 5 {
		t.Errorf("%d replicas, want the 5 of the autoscaler", got)
	}
}
