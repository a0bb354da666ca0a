package services

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func TestIdentityBackendsOfAControlPlaneAreValid(t *testing.T) {
	for _, one := range identityBackends(fixture.Complete()) {
		backend := one.(*keystonev1alpha1.KeystoneIdentityBackend)
		defaulted := backend.DeepCopy()
		keystonev1alpha1.SetIdentityBackendDefaults(defaulted)
		if diff := cmp.Diff(defaulted, backend); diff != "" {
			t.Errorf("it lacks defaults (-want +got):\n%s", diff)
		}
		if errs := append(keystonev1alpha1.ValidateIdentityBackend(backend), backend.Spec.Validate(field.NewPath("spec"))...); len(errs) > 0 {
			t.Error(errs)
		}
	}
}

func TestTheKeystoneNeedsNoneOfItsIdentityBackends(t *testing.T) {
	if Keystone.needsParts() || !Glance.needsParts() || Placement.needsParts() {
		t.Error("the Keystone waits for its identity backends, or Glance does not wait for its backends")
	}
}

func TestAForeignObjectDoesNotKeepOtherIdentityBackendsFromBeingApplied(t *testing.T) {
	cp := fixture.Complete()
	cp.Spec.Services.Keystone.IdentityBackends = []c5c3v1alpha1.ServiceKeystoneIdentityBackendSpec{
		fixture.Directory("taken"), fixture.Directory("staff"),
	}
	taken := &keystonev1alpha1.KeystoneIdentityBackend{}
	taken.Name, taken.Namespace = "taken", cp.Namespace
	s := pass.New(toolsFor(t, List{Keystone}, cp, taken), cp)
	outcome := List{Keystone}.ReconcileIdentityBackends(t.Context(), s)
	if outcome.Reason() != c5c3v1alpha1.ReasonIdentityBackendError || outcome.IsDone() {
		t.Errorf("got %s: %s", outcome.Reason(), outcome.Message())
	}
	all := &keystonev1alpha1.KeystoneIdentityBackendList{}
	if err := s.Client.List(t.Context(), all, client.InNamespace(cp.Namespace)); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(all.Items, func(b keystonev1alpha1.KeystoneIdentityBackend) bool { return b.Name == "staff" }) {
		t.Errorf("the other backend is not applied: %s", outcome.Message())
	}
}
