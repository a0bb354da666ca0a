package conformance

import (
	"context"
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

	"github.com/c5c3/forge/internal/common/testutil/children"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
)

// drift verifies what happens to changes by others to the children.
func (s suite[T]) drift(t *testing.T) {
	t.Parallel()
	i := s.converged(t, s.fullest())
	for _, proof := range []struct {
		name string
		data bool
		run  func(*Instance[T])
	}{
		{"owned fields are restored", false, (*Instance[T]).ownedFields},
		{"a foreign edit of the database login is reverted and never used", true, (*Instance[T]).editedConnection},
		{"replaced ConfigMaps get their content back", false, (*Instance[T]).replacedConfigMaps},
		{"foreign fields are kept", false, (*Instance[T]).foreignFields},
		{"lost labels are restored", false, (*Instance[T]).lostLabels},
		{"lost owner references are restored", false, (*Instance[T]).lostOwners},
		{"deleted children are recreated", false, (*Instance[T]).lostChildren},
	} {
		if proof.data && !s.hasData() {
			continue
		}
		i.unlessFailed(proof.name, func(t *testing.T) { proof.run(i.in(t)) })
	}
}

func (i *Instance[T]) ownedFields() { i.putsRight(i.object.trial.Drifts) }

// drifts returns changes to the children of a resource of the mode.
func (s suite[T]) drifts(m mode) []Drift {
	name := s.Definition.CodeName
	drifts := []Drift{
		DriftOf(&appsv1.Deployment{}, name, "image",
			func(d *appsv1.Deployment) *string { return &d.Spec.Template.Spec.Containers[0].Image }, "example.com/other:1"),
		DriftOf(&appsv1.Deployment{}, name, "replicas",
			func(d *appsv1.Deployment) **int32 { return &d.Spec.Replicas }, new(int32(7))),
		DriftOf(&corev1.Service{}, name, "target port",
			func(s *corev1.Service) *intstr.IntOrString { return &s.Spec.Ports[0].TargetPort }, intstr.FromInt32(80)),
		DriftOf(&corev1.Service{}, name, "port",
			func(s *corev1.Service) *int32 { return &s.Spec.Ports[0].Port }, int32(5001)),
		DriftOf(&corev1.Service{}, name, "selector",
			func(s *corev1.Service) *map[string]string { return &s.Spec.Selector }, map[string]string{"app": "other"}),
		DriftOf(&policyv1.PodDisruptionBudget{}, name, "maxUnavailable",
			func(b *policyv1.PodDisruptionBudget) **intstr.IntOrString { return &b.Spec.MaxUnavailable }, new(intstr.FromInt32(9))),
		// It excludes maxUnavailable.
		DriftOf(&policyv1.PodDisruptionBudget{}, name, "minAvailable",
			func(b *policyv1.PodDisruptionBudget) *policyv1.PodDisruptionBudgetSpec { return &b.Spec },
			policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(2))}),
	}
	if s.hasData() {
		drifts = append(drifts, DriftOf(&corev1.Secret{}, name+"-db-connection", "data",
			func(s *corev1.Secret) *map[string][]byte { return &s.Data },
			map[string][]byte{"connection": []byte("mysql://elsewhere"), "extra": []byte("1")}))
	}
	if m == managed {
		drifts = append(drifts,
			DriftOf(&mariadbv1alpha1.Database{}, name, "character set",
				func(d *mariadbv1alpha1.Database) *string { return &d.Spec.CharacterSet }, "latin1"),
			DriftOf(&mariadbv1alpha1.User{}, name, "maxUserConnections",
				func(u *mariadbv1alpha1.User) *int32 { return &u.Spec.MaxUserConnections }, 1),
			DriftOf(&mariadbv1alpha1.Grant{}, name, "privileges",
				func(g *mariadbv1alpha1.Grant) *[]string { return &g.Spec.Privileges }, []string{"SELECT"}),
		)
	}
	return append(drifts, s.Service.Drifts...)
}

// replacedConfigMaps puts other content in the place of each immutable ConfigMap, under the
// same name, as "kubectl replace --force" does.
func (i *Instance[T]) replacedConfigMaps() {
	for _, child := range i.children() {
		if child.Kind != "ConfigMap" {
			continue
		}
		i.unlessFailed(child.Name, func(t *testing.T) {
			key := client.ObjectKeyFromObject(&child.PartialObjectMetadata)
			stored := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
			expect.Exists(t, i.Admin, stored)
			want := stored.Data
			forged := stored.DeepCopy()
			forged.Data = map[string]string{"other": "content"}
			err := expect.Until(t.Context(), func(ctx context.Context) error {
				err := i.Admin.Delete(ctx, stored.DeepCopy())
				if client.IgnoreNotFound(err) != nil {
					return err
				}
				created := forged.DeepCopy()
				created.UID, created.ResourceVersion = "", ""
				return i.Admin.Create(ctx, created) // the operator may be faster
			})
			if err != nil {
				t.Fatal(err)
			}
			expect.Object(t, i.Admin, stored, func() error {
				if diff := cmp.Diff(want, stored.Data); diff != "" {
					return fmt.Errorf("the content of %s (-want +got):\n%s", key.Name, diff)
				}
				return nil
			})
			i.in(t).Ready()
		})
	}
	if !i.Failed() {
		i.settle()
	}
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
	i.unlessFailed(before.String(), func(t *testing.T) {
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
		if child.Kind == "Job" {
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
