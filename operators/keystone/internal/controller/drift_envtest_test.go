//go:build integration

package controller_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// drifts changes one owned field of an object of type T and wants it back.
func drifts[T client.Object, V any](
	t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, obj T, suffix, field string, at func(T) *V, wrong V,
) {
	t.Helper()
	if t.Failed() {
		return // a drift that stays would fail all the others too
	}
	obj.SetNamespace(k.Namespace)
	obj.SetName(k.Name + suffix)
	t.Run(fmt.Sprintf("%T %s", obj, field), func(t *testing.T) {
		expect.Exists(t, c, obj)
		want := *at(obj)
		objects.Change(t, c, obj, func(o T) { *at(o) = wrong })
		expect.Object(t, c, obj, func() error {
			if diff := cmp.Diff(want, *at(obj)); diff != "" {
				return fmt.Errorf("%s (-want +got):\n%s", field, diff)
			}
			return nil
		})
		ready(t, c, k)
	})
}

func TestDriftOfOwnedFieldsIsPutBack(t *testing.T) {
	t.Parallel()
	c, k, _ := converged(t, modes[1])
	drifts(t, c, k, &appsv1.Deployment{}, "", "image",
		func(d *appsv1.Deployment) *string { return &d.Spec.Template.Spec.Containers[0].Image }, "example.com/other:1")
	drifts(t, c, k, &appsv1.Deployment{}, "", "replicas",
		func(d *appsv1.Deployment) **int32 { return &d.Spec.Replicas }, new(int32(7)))
	drifts(t, c, k, &corev1.Service{}, "", "target port",
		func(s *corev1.Service) *intstr.IntOrString { return &s.Spec.Ports[0].TargetPort }, intstr.FromInt32(80))
	drifts(t, c, k, &corev1.Service{}, "", "port",
		func(s *corev1.Service) *int32 { return &s.Spec.Ports[0].Port }, int32(5001))
	drifts(t, c, k, &corev1.Service{}, "", "selector",
		func(s *corev1.Service) *map[string]string { return &s.Spec.Selector }, map[string]string{"app": "other"})
	drifts(t, c, k, &policyv1.PodDisruptionBudget{}, "", "maxUnavailable",
		func(b *policyv1.PodDisruptionBudget) **intstr.IntOrString { return &b.Spec.MaxUnavailable }, new(intstr.FromInt32(9)))
	drifts(t, c, k, &corev1.Secret{}, "-db-connection", "data",
		func(s *corev1.Secret) *map[string][]byte { return &s.Data },
		map[string][]byte{"connection": []byte("mysql://elsewhere"), "extra": []byte("1")})
	drifts(t, c, k, &mariadbv1alpha1.Database{}, "", "character set",
		func(d *mariadbv1alpha1.Database) *string { return &d.Spec.CharacterSet }, "latin1")
	drifts(t, c, k, &mariadbv1alpha1.User{}, "", "maxUserConnections",
		func(u *mariadbv1alpha1.User) *int32 { return &u.Spec.MaxUserConnections }, 1)
	drifts(t, c, k, &mariadbv1alpha1.Grant{}, "", "privileges",
		func(g *mariadbv1alpha1.Grant) *[]string { return &g.Spec.Privileges }, []string{"SELECT"})
}

func TestForeignFieldsSurvive(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[1])
	const key = "example.com/mine"
	for _, child := range children(t, c, k) {
		objects.Change(t, c, &child.PartialObjectMetadata, func(o *metav1.PartialObjectMetadata) {
			metav1.SetMetaDataAnnotation(&o.ObjectMeta, key, "yes")
			metav1.SetMetaDataLabel(&o.ObjectMeta, key, "yes")
		})
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: k.Name}}
	objects.Change(t, c, deployment, func(d *appsv1.Deployment) {
		metav1.SetMetaDataAnnotation(&d.Spec.Template.ObjectMeta, "kubectl.kubernetes.io/restartedAt", "now")
		d.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "mine", Operator: corev1.TolerationOpExists}}
		// An owned field beside them, so that the operator applies.
		d.Spec.Template.Spec.Containers[0].Image = "example.com/other:1"
	})
	expect.Object(t, c, deployment, func() error {
		if deployment.Spec.Template.Spec.Containers[0].Image == "example.com/other:1" {
			return fmt.Errorf("the operator has not put the image back")
		}
		return nil
	})
	settle(t, c, k, operator)

	if len(deployment.Spec.Template.Spec.Tolerations) != 1 ||
		deployment.Spec.Template.Annotations["kubectl.kubernetes.io/restartedAt"] != "now" {
		t.Errorf("foreign fields of the pod template are gone: %+v", deployment.Spec.Template)
	}
	for _, child := range children(t, c, k) {
		if child.Annotations[key] != "yes" || child.Labels[key] != "yes" {
			t.Errorf("%s has lost a foreign label or annotation: %v, %v", child, child.Labels, child.Annotations)
		}
	}
}

// expectChild waits until the child is as it was before.
func expectChild(t *testing.T, c client.Client, before testutil.Child, check func(now *metav1.PartialObjectMetadata) error) {
	t.Helper()
	now := before.DeepCopy()
	expect.Object(t, c, now, func() error { return check(now) })
}

// putsBack patches each child for which affects says true, and wants the part
// of its metadata that of returns to be as before.
func putsBack(
	t *testing.T, patch string, affects func(testutil.Child) bool, of func(*metav1.PartialObjectMetadata) any,
) {
	t.Helper()
	c, k, _ := converged(t, modes[1])
	for _, child := range children(t, c, k) {
		if t.Failed() || !affects(child) {
			continue
		}
		t.Run(child.String(), func(t *testing.T) {
			err := c.Patch(t.Context(), child.PartialObjectMetadata.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch)))
			if err != nil {
				t.Fatal(err)
			}
			expectChild(t, c, child, func(now *metav1.PartialObjectMetadata) error {
				if diff := cmp.Diff(of(&child.PartialObjectMetadata), of(now)); diff != "" {
					return fmt.Errorf("(-before +now):\n%s", diff)
				}
				return nil
			})
			ready(t, c, k)
		})
	}
}

// Jobs are created and never changed: a new label would not reach their Pods.
func isNotJob(child testutil.Child) bool { return child.Kind != "Job" }

func TestLostLabelsArePutBack(t *testing.T) {
	t.Parallel()
	putsBack(t, `{"metadata":{"labels":null}}`, isNotJob, func(o *metav1.PartialObjectMetadata) any { return o.Labels })
}

func TestLostOwnersArePutBack(t *testing.T) {
	t.Parallel()
	putsBack(t, `{"metadata":{"ownerReferences":null}}`, isNotJob, func(o *metav1.PartialObjectMetadata) any { return o.OwnerReferences })
}

func TestDeletedChildrenComeBack(t *testing.T) {
	t.Parallel()
	c, k, _ := converged(t, modes[1])
	for _, child := range children(t, c, k) {
		if strings.HasSuffix(child.Name, "-keys") {
			continue // see TestLostKeysAreNeverReplacedSilently
		}
		t.Run(child.String(), func(t *testing.T) {
			objects.Delete(t, c, child.PartialObjectMetadata.DeepCopy(),
				client.PropagationPolicy(metav1.DeletePropagationBackground))
			expectChild(t, c, child, func(now *metav1.PartialObjectMetadata) error {
				if now.UID == child.UID {
					return fmt.Errorf("it is still the old one")
				}
				return nil
			})
			ready(t, c, k)
		})
	}
}

func TestKeysThatAreLostWithTheStatusAreNotReplacedEither(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[0])
	operator.Stop()
	keys := secret(k.Namespace, k.Name+"-fernet-keys", nil)
	expect.Exists(t, c, keys)
	objects.Delete(t, c, keys.DeepCopy())
	objects.ChangeStatus(t, c, k, func(k *keystonev1alpha1.Keystone) { k.Status = keystonev1alpha1.KeystoneStatus{} })
	testutil.Start(t, asOperator, k.Namespace)
	expect.Condition(t, c, k, "FernetKeysReady", metav1.ConditionFalse, "KeysMissing")
	restored := secret(k.Namespace, keys.Name, nil)
	restored.Data = keys.Data
	objects.Create(t, c, restored)
	ready(t, c, k)
}

func TestLostKeysAreNeverReplacedSilently(t *testing.T) {
	for suffix, condition := range map[string]string{
		"-fernet-keys": "FernetKeysReady", "-credential-keys": "CredentialKeysReady",
	} {
		t.Run(condition, func(t *testing.T) {
			t.Parallel()
			c, k, _ := converged(t, modes[0])
			keys := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: k.Name + suffix}}
			expect.Exists(t, c, keys)
			objects.Delete(t, c, keys.DeepCopy())
			expect.Condition(t, c, k, condition, metav1.ConditionFalse, "KeysMissing", keys.Name, "backup")

			// Restored from a backup, which knows nothing of owners.
			objects.Create(t, c, &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: keys.Namespace, Name: keys.Name}, Data: keys.Data,
			})
			ready(t, c, k)
			restored := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: keys.Namespace, Name: keys.Name}}
			expect.Object(t, c, restored, func() error {
				if restored.Labels["app.kubernetes.io/instance"] != k.Name {
					return fmt.Errorf("the operator has not adopted it: %v", restored.Labels)
				}
				return nil
			})
			if diff := cmp.Diff(slices.Sorted(maps.Keys(keys.Data)), slices.Sorted(maps.Keys(restored.Data))); diff != "" ||
				string(restored.Data["0"]) != string(keys.Data["0"]) {
				t.Errorf("the restored keys were changed: %s", diff)
			}
		})
	}
}
