package report

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/testutil"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

func TestObjectsOfOtherProjectsThatAreNotReadyAreLookedAt(t *testing.T) {
	cp := testutil.ControlPlane(testutil.NotReady(false, testutil.False(c5c3v1alpha1.ConditionKORCReady,
		c5c3v1alpha1.ReasonApplicationCredentialFailed, "K-ORC cannot create it"))...)
	found := &inventory.Inventory{Now: testutil.Now, Namespace: testutil.Namespace, ControlPlanes: []c5c3v1alpha1.ControlPlane{*cp}}
	found.Foreign = []unstructured.Unstructured{
		testutil.Foreign("k8s.mariadb.com/v1alpha1", "User", "keystone", cp, testutil.True("Ready", "Created")),
		testutil.Foreign("openstack.k-orc.cloud/v1alpha1", "User", "admin", cp, testutil.False("Available", "TransientError", "EOF")),
	}
	r := build(t, found)
	want := Exhibit{Kind: "User", Name: "admin", Problem: "TransientError: EOF", group: "openstack.k-orc.cloud"}
	if !slices.Equal(r.LookAt, []Exhibit{want}) {
		t.Errorf("got %+v", r.LookAt)
	}
	next := []string{
		"kubectl -n openstack describe user.openstack.k-orc.cloud admin", "kubectl forge wait controlplane/controlplane -n openstack",
	}
	if !slices.Equal(r.Next, next) {
		t.Errorf("got %q, expected %q", r.Next, next)
	}
}

func TestAnOperatorThatDoesNothingIsNamed(t *testing.T) {
	for _, found := range []*inventory.Inventory{testutil.Unobserved(), testutil.Of(testutil.Placement())} {
		r := build(t, found)
		operator := inventory.OperatorOf(r.Target.Kind)
		if !strings.Contains(r.Causes[0].Message, operator) || r.Next[0] != "kubectl forge doctor -n openstack" {
			t.Errorf("got %q and %q", r.Causes[0].Message, r.Next)
		}
	}
}

func TestTheCommandsAreFewAndEndWithWaiting(t *testing.T) {
	for name, found := range map[string]*inventory.Inventory{"broken": testutil.BrokenService(), "quota": testutil.Quota()} {
		r := build(t, found)
		if len(r.Next) > maxExhibits+1 || !strings.HasPrefix(r.Next[len(r.Next)-1], "kubectl forge wait "+r.Target.Arg()) {
			t.Errorf("%s: got %q", name, r.Next)
		}
	}
}
