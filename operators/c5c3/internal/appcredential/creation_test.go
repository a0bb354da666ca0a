package appcredential

import (
	"context"
	"testing"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/kube"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

// A CredentialRotation writes its request at any time, also between two reads of one pass.
func TestARotationRequestDuringAReconcileIsKept(t *testing.T) {
	ctx, cp := t.Context(), fixture.Minimal()
	c := fake.NewClientBuilder().WithScheme(fixture.Scheme()).WithReturnManagedFields().Build()
	key := client.ObjectKey{Namespace: cp.Namespace, Name: cp.ApplicationCredentialName()}
	stored := func() *orcv1alpha1.ApplicationCredential {
		credential := &orcv1alpha1.ApplicationCredential{}
		if err := c.Get(ctx, key, credential); err != nil {
			t.Fatal(err)
		}
		return credential
	}
	reads := 0
	busy := interceptor.NewClient(c, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			if reads++; reads == 2 {
				before := stored()
				requested := before.DeepCopy()
				requested.Annotations[c5c3v1alpha1.AnnotationAdminPasswordHash] = ""
				requested.Annotations[c5c3v1alpha1.AnnotationRotationRequest] = "uid/2"
				if err := apply.Merge(ctx, c, before, requested, "requesting a successor of"); err != nil {
					t.Error(err)
				}
			}
			return c.Get(ctx, key, obj, opts...)
		},
	})
	application := &creation{secret: &secret{
		Pass: pass.New(&pass.Tools{
			Access: kube.Access{Client: busy, ThirdParty: busy, Scheme: fixture.Scheme()},
			Proofs: identity.NewProofs(nil, func(string) time.Time { return fixture.Noon }, 0, 0),
		}, cp),
		adminPassword: "password", object: &corev1.Secret{Data: map[string][]byte{keyValue: []byte("secret")}},
	}}
	application.secret.object.Annotations = map[string]string{c5c3v1alpha1.AnnotationRotationRequest: "uid/1"}
	answering := applicationCredential(cp, credentialName(cp, "secret"), map[string]string{
		c5c3v1alpha1.AnnotationAdminPasswordHash: controlplane.Hash("password"), c5c3v1alpha1.AnnotationRotationRequest: "uid/1",
	})
	if err := apply.EnsureObject(ctx, c, fixture.Scheme(), cp, answering, pass.FieldManager); err != nil {
		t.Fatal(err)
	}
	minted := stored()
	minted.Status.ID = ptr.To("id")
	meta.SetStatusCondition(&minted.Status.Conditions, metav1.Condition{
		Type: orcv1alpha1.ConditionAvailable, Status: metav1.ConditionTrue, Reason: "Success", ObservedGeneration: minted.Generation,
	})
	if err := c.Update(ctx, minted); err != nil {
		t.Fatal(err)
	}
	if err := application.keepCredential(ctx); !apierrors.IsConflict(err) {
		t.Errorf("the pass ended with %v, expected a conflict", err)
	}
	annotations := stored().Annotations
	if annotations[c5c3v1alpha1.AnnotationRotationRequest] != "uid/2" || annotations[c5c3v1alpha1.AnnotationAdminPasswordHash] != "" {
		t.Errorf("the request is lost: the annotations are %v", annotations)
	}
}
