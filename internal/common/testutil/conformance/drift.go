package conformance

import (
	"fmt"
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

	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/children"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
)

// drift verifies what happens to changes by others to the children.
func (s suite[T]) drift(t *testing.T) {
	t.Parallel()
	i := s.converged(t, managed)
	for _, proof := range []struct {
		name string
		run  func(*Instance[T])
	}{
		{"owned fields are put back", (*Instance[T]).ownedFields},
		{"fields of somebody else survive", (*Instance[T]).foreignFields},
		{"lost labels are put back", (*Instance[T]).lostLabels},
		{"lost owners are put back", (*Instance[T]).lostOwners},
		{"deleted children come back", (*Instance[T]).lostChildren},
	} {
		t.Run(proof.name, func(t *testing.T) { proof.run(i.in(t)) })
	}
}

// drifts changes one owned field of an object and requires it to be restored.
func drifts[T service.Resource, O client.Object, V any](i *Instance[T], obj O, suffix, field string, at func(O) *V, wrong V) {
	i.Helper()
	if i.Failed() {
		return // Drift that stays would also fail all the others.
	}
	obj.SetNamespace(i.namespace())
	obj.SetName(i.name() + suffix)
	i.Run(fmt.Sprintf("%T %s", obj, field), func(t *testing.T) {
		expect.Exists(t, i.Admin, obj)
		want := *at(obj)
		objects.Change(t, i.Admin, obj, func(o O) { *at(o) = wrong })
		expect.Object(t, i.Admin, obj, func() error {
			if diff := cmp.Diff(want, *at(obj)); diff != "" {
				return fmt.Errorf("%s (-want +got):\n%s", field, diff)
			}
			return nil
		})
		i.in(t).Ready()
	})
}

func (i *Instance[T]) ownedFields() {
	drifts(i, &appsv1.Deployment{}, "", "image",
		func(d *appsv1.Deployment) *string { return &d.Spec.Template.Spec.Containers[0].Image }, "example.com/other:1")
	drifts(i, &appsv1.Deployment{}, "", "replicas",
		func(d *appsv1.Deployment) **int32 { return &d.Spec.Replicas }, new(int32(7)))
	drifts(i, &corev1.Service{}, "", "target port",
		func(s *corev1.Service) *intstr.IntOrString { return &s.Spec.Ports[0].TargetPort }, intstr.FromInt32(80))
	drifts(i, &corev1.Service{}, "", "port",
		func(s *corev1.Service) *int32 { return &s.Spec.Ports[0].Port }, int32(5001))
	drifts(i, &corev1.Service{}, "", "selector",
		func(s *corev1.Service) *map[string]string { return &s.Spec.Selector }, map[string]string{"app": "other"})
	drifts(i, &policyv1.PodDisruptionBudget{}, "", "maxUnavailable",
		func(b *policyv1.PodDisruptionBudget) **intstr.IntOrString { return &b.Spec.MaxUnavailable }, new(intstr.FromInt32(9)))
	drifts(i, &corev1.Secret{}, "-db-connection", "data",
		func(s *corev1.Secret) *map[string][]byte { return &s.Data },
		map[string][]byte{"connection": []byte("mysql://elsewhere"), "extra": []byte("1")})
	drifts(i, &mariadbv1alpha1.Database{}, "", "character set",
		func(d *mariadbv1alpha1.Database) *string { return &d.Spec.CharacterSet }, "latin1")
	drifts(i, &mariadbv1alpha1.User{}, "", "maxUserConnections",
		func(u *mariadbv1alpha1.User) *int32 { return &u.Spec.MaxUserConnections }, 1)
	drifts(i, &mariadbv1alpha1.Grant{}, "", "privileges",
		func(g *mariadbv1alpha1.Grant) *[]string { return &g.Spec.Privileges }, []string{"SELECT"})
}

func (i *Instance[T]) foreignFields() {
	const key, wrong = "example.com/mine", "example.com/other:1"
	for _, child := range i.children() {
		objects.Change(i.T, i.Admin, &child.PartialObjectMetadata, func(o *metav1.PartialObjectMetadata) {
			metav1.SetMetaDataAnnotation(&o.ObjectMeta, key, "yes")
			metav1.SetMetaDataLabel(&o.ObjectMeta, key, "yes")
		})
	}
	deployment := i.deployment()
	objects.Change(i.T, i.Admin, deployment, func(d *appsv1.Deployment) {
		metav1.SetMetaDataAnnotation(&d.Spec.Template.ObjectMeta, "kubectl.kubernetes.io/restartedAt", "now")
		d.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "mine", Operator: corev1.TolerationOpExists}}
		// A change of an owned field as well, so that the operator applies.
		d.Spec.Template.Spec.Containers[0].Image = wrong
	})
	expect.Object(i.T, i.Admin, deployment, func() error {
		if deployment.Spec.Template.Spec.Containers[0].Image == wrong {
			return fmt.Errorf("the operator has not put the image back")
		}
		return nil
	})
	i.Ready()
	i.settle()
	expect.Exists(i.T, i.Admin, deployment)
	if tolerations := deployment.Spec.Template.Spec.Tolerations; len(tolerations) != 1 || tolerations[0].Key != "mine" ||
		deployment.Spec.Template.Annotations["kubectl.kubernetes.io/restartedAt"] != "now" {
		i.Errorf("foreign fields of the pod template are gone: %+v", deployment.Spec.Template)
	}
	for _, child := range i.children() {
		if child.Annotations[key] != "yes" || child.Labels[key] != "yes" {
			i.Errorf("%s has lost a foreign label or annotation: %v, %v", child, child.Labels, child.Annotations)
		}
	}
}

// deployment returns the Deployment of the API pods, for reading.
func (i *Instance[T]) deployment() *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace(), Name: i.name()}}
}

// comesBack harms the child and waits until it is restored.
func (i *Instance[T]) comesBack(before children.Child, harm func(*testing.T), check func(now *metav1.PartialObjectMetadata) error) {
	i.Helper()
	i.Run(before.String(), func(t *testing.T) {
		harm(t)
		now := before.DeepCopy()
		expect.Object(t, i.Admin, now, func() error { return check(now) })
		i.in(t).Ready()
	})
}

// putsBack patches each child and requires the part of its metadata returned by of to be
// restored. Jobs are created and never changed: a new label would not reach their Pods.
func (i *Instance[T]) putsBack(patch string, of func(*metav1.PartialObjectMetadata) any) {
	i.Helper()
	for _, child := range i.children() {
		if i.Failed() || child.Kind == "Job" {
			continue
		}
		i.comesBack(child, func(t *testing.T) {
			changed := child.PartialObjectMetadata.DeepCopy()
			if err := i.Admin.Patch(t.Context(), changed, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
				t.Fatal(err)
			}
		}, func(now *metav1.PartialObjectMetadata) error {
			if diff := cmp.Diff(of(&child.PartialObjectMetadata), of(now)); diff != "" {
				return fmt.Errorf("(-before +now):\n%s", diff)
			}
			return nil
		})
	}
}

func (i *Instance[T]) lostLabels() {
	// Foreign metadata is not restored.
	for _, child := range i.children() {
		objects.Change(i.T, i.Admin, &child.PartialObjectMetadata, func(o *metav1.PartialObjectMetadata) { delete(o.Labels, "example.com/mine") })
	}
	i.putsBack(`{"metadata":{"labels":null}}`, func(o *metav1.PartialObjectMetadata) any { return o.Labels })
}

func (i *Instance[T]) lostOwners() {
	i.putsBack(`{"metadata":{"ownerReferences":null}}`, func(o *metav1.PartialObjectMetadata) any { return o.OwnerReferences })
}

func (i *Instance[T]) lostChildren() {
	for _, child := range i.children() {
		if i.irreplaceable(child) {
			continue
		}
		i.comesBack(child, func(t *testing.T) {
			objects.Delete(t, i.Admin, child.PartialObjectMetadata.DeepCopy(), client.PropagationPolicy(metav1.DeletePropagationBackground))
		}, func(now *metav1.PartialObjectMetadata) error {
			if now.UID == child.UID {
				return fmt.Errorf("it is still the old one")
			}
			return nil
		})
	}
}
