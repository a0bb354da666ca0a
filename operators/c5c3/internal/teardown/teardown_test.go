package teardown

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/c5c3/forge/internal/common/kube"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

func TestFinalizersAreForceRemovedDespiteAConcurrentUpdate(t *testing.T) {
	domain := &orcv1alpha1.Domain{ObjectMeta: metav1.ObjectMeta{
		Namespace: "openstack", Name: "default", Finalizers: []string{"openstack.k-orc.cloud/domain", "example.com/keep"},
	}}
	meddle := true
	c := fake.NewClientBuilder().WithScheme(fixture.Scheme()).WithObjects(domain).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			if meddle {
				meddle = false
				other := &orcv1alpha1.Domain{}
				if err := c.Get(ctx, client.ObjectKeyFromObject(obj), other); err != nil {
					return err
				}
				other.Labels = map[string]string{"changed": "meanwhile"}
				if err := c.Update(ctx, other); err != nil {
					return err
				}
			}
			return c.Patch(ctx, obj, patch, opts...)
		},
	}).Build()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(domain), domain); err != nil {
		t.Fatal(err)
	}
	outdated := domain.DeepCopy()
	behind := interceptor.NewClient(c, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
			if read, ok := obj.(*orcv1alpha1.Domain); ok {
				outdated.DeepCopyInto(read)
			}
			return nil
		},
	})
	s := pass.New(&pass.Tools{Access: kube.Access{ThirdParty: behind, APIReader: c}}, &c5c3v1alpha1.ControlPlane{})
	if err := stripFinalizers(t.Context(), s, domain); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(domain), domain); err != nil {
		t.Fatal(err)
	}
	if got := domain.GetFinalizers(); len(got) != 1 || got[0] != "example.com/keep" {
		t.Errorf("the finalizers are %v", got)
	}
}

func TestUsersLeftInARetainedDatabaseAfterKORCRemovalAreNamed(t *testing.T) {
	for policy, want := range map[commonv1.DeletionPolicy][]string{
		commonv1.DeletionPolicyRetain: {"the user placement-1ec1c26b"}, commonv1.DeletionPolicyDelete: nil,
	} {
		cp := fixture.WithPlacement()
		cp.Spec.DeletionPolicy = policy
		login, theirs := loginOf(cp, "placement-1ec1c26b"), loginOf(cp, "placement-theirs")
		credential := loginOf(cp, "a-credential")
		credential.Data = map[string][]byte{"application_credential_id": []byte("id")}
		for _, ours := range []*corev1.Secret{login, credential} {
			if err := controllerutil.SetControllerReference(cp, ours, fixture.Scheme()); err != nil {
				t.Fatal(err)
			}
		}
		c := fake.NewClientBuilder().WithScheme(fixture.Scheme()).WithObjects(login, credential, theirs).Build()
		got, err := abandonedUsers(t.Context(), pass.New(&pass.Tools{Access: kube.Access{Client: c}}, cp))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("with %s: %v, -want +got:\n%s", policy, err, diff)
		}
	}
}

// loginOf is the Secret of a user of Placement.
func loginOf(cp *c5c3v1alpha1.ControlPlane, name string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: cp.Namespace, Name: cp.Name + "-" + name, Labels: map[string]string{c5c3v1alpha1.LabelServiceUser: "placement"},
		},
		Data: map[string][]byte{services.KeyUsername: []byte(name)},
	}
}
