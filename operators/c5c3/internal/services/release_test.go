package services

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

func TestARetainedServiceGetsTheRetainPolicy(t *testing.T) {
	const deletes, retains = commonv1.DeletionPolicyDelete, commonv1.DeletionPolicyRetain
	for name, c := range map[string]struct {
		policy  commonv1.DeletionPolicy
		allowed string
		// finalized leaves it to the deletion of the control plane.
		finalized bool
		want      commonv1.DeletionPolicy
	}{
		"kept": {want: retains},
		"kept until the control plane is deleted": {finalized: true, want: retains},
		"to be deleted":                        {allowed: "true", want: deletes},
		"to be deleted with the control plane": {allowed: "true", finalized: true, want: deletes},
		"to be deleted without its data":       {allowed: "true", policy: retains, want: retains},
		"with an invalid annotation value":     {allowed: "yes!", want: retains},
	} {
		p := newPlant(t, withSundial())
		p.pass(t)
		p.keystoneIsReady(t)
		p.pass(t)
		child := &sundial{}
		p.get(t, child, sundialName)
		child.Finalizers = []string{"example.com/sundial"}
		child.Spec.DeletionPolicy = deletes
		p.update(t, child)
		cp := &c5c3v1alpha1.ControlPlane{}
		p.get(t, cp, fixture.Minimal().Name)
		cp.Annotations = map[string]string{sundialService().allowDeletion: c.allowed}
		cp.Spec.DeletionPolicy = c.policy
		p.update(t, cp)
		if c.finalized {
			sundialService().finalize(t.Context(), pass.New(p.Tools, cp))
		} else {
			p.pass(t)
		}
		p.get(t, child, sundialName)
		if child.Spec.DeletionPolicy != c.want {
			t.Errorf("%s: its policy is %q, want %q", name, child.Spec.DeletionPolicy, c.want)
		}
		if deleted := !child.DeletionTimestamp.IsZero(); deleted != (c.allowed == "true" && !c.finalized) {
			t.Errorf("%s: it is deleted: %t", name, deleted)
		}
	}
}

func TestTheDeletionPolicyOfAForeignResourceIsKept(t *testing.T) {
	p := newPlant(t, fixture.Minimal())
	foreign := &sundial{}
	foreign.Name, foreign.Namespace = sundialName, fixture.Minimal().Namespace
	if err := p.Client.Create(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	p.pass(t)
	p.keystoneIsReady(t)
	p.pass(t)
	if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(foreign), foreign); err != nil || foreign.Spec.DeletionPolicy != "" {
		t.Errorf("its policy is %q, %v", foreign.Spec.DeletionPolicy, err)
	}
}
