package kube

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
)

func forbiddenBy(message string) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "name", errors.New(message))
}

func TestAForbiddenErrorNamesTheMissingPermission(t *testing.T) {
	for message, want := range map[string]MissingRightError{
		`User "eve" cannot list resource "pods" in API group "" in the namespace "openstack"`:    "list pods in namespace openstack",
		`User "eve" cannot get resource "pods/log" in API group "" in the namespace "openstack"`: "get pods/log in namespace openstack",
		`User "eve" cannot patch resource "keystones" in API group "keystone.openstack.c5c3.io" in the namespace "a"`: "" +
			"patch keystones.keystone.openstack.c5c3.io in namespace a",
		`User "eve" cannot list resource "deployments" in API group "apps" at the cluster scope`: "list deployments.apps in the whole cluster",
	} {
		err := Explain(fmt.Errorf("listing: %w", forbiddenBy(message)))
		if got, _ := errors.AsType[MissingRightError](err); got != want || !strings.Contains(err.Error(), "you may not "+string(want)) {
			t.Errorf("got %q and %q", got, err)
		}
	}
}

func TestOtherForbiddenErrorsAreReturnedUnchanged(t *testing.T) {
	for _, err := range []error{nil, errors.New("no route"), forbiddenBy("exceeded quota: small, requested: pods=1")} {
		if got := Explain(err); !errors.Is(got, err) {
			t.Errorf("got %v, expected %v", got, err)
		}
	}
}

func TestATargetMayBeWrittenInEachOfItsForms(t *testing.T) {
	for arg, want := range map[string][2]string{
		"keystone/a":                               {inventory.KindKeystone, "a"},
		"keystones.keystone.openstack.c5c3.io/a":   {inventory.KindKeystone, "a"},
		"ControlPlane/b":                           {inventory.KindControlPlane, "b"},
		"controlplane.c5c3.io/b":                   {inventory.KindControlPlane, "b"},
		"placement/d":                              {inventory.KindPlacement, "d"},
		"placements.placement.openstack.c5c3.io/d": {inventory.KindPlacement, "d"},
		"c": {"", "c"},
	} {
		kind, name, err := ParseTarget(arg)
		if err != nil || [2]string{kind, name} != want {
			t.Errorf("%s: got %s, %s and %v", arg, kind, name, err)
		}
	}
	for _, arg := range []string{"pod/a", "keystone/", "keystone/a/b", "/a"} {
		if _, _, err := ParseTarget(arg); err == nil {
			t.Errorf("%s is accepted", arg)
		}
	}
}

func TestTargetsAreSelectedFromExistingResources(t *testing.T) {
	plane := inventory.Ref{Kind: inventory.KindControlPlane, Namespace: "ns", Name: "same"}
	keystone := inventory.Ref{Kind: inventory.KindKeystone, Namespace: "ns", Name: "same"}
	all := []inventory.Ref{plane, keystone}
	for _, tc := range []struct {
		args []string
		want []inventory.Ref
	}{
		{nil, all},
		{[]string{"same"}, []inventory.Ref{plane}},
		{[]string{"keystone/same"}, []inventory.Ref{keystone}},
		{[]string{"keystone/same", "controlplane/same"}, []inventory.Ref{keystone, plane}},
	} {
		got, err := Targets(all, "ns", tc.args)
		if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
			t.Errorf("%v: %v (-want +got):\n%s", tc.args, err, diff)
		}
	}
	_, err := Targets(all, "ns", []string{"other"})
	if err == nil || !strings.Contains(err.Error(), "there is controlplane/same, keystone/same") {
		t.Errorf("got %v, expected what there is", err)
	}
	if _, err := Targets(nil, "ns", nil); err == nil || !strings.Contains(err.Error(), "--namespace") {
		t.Errorf("got %v, expected a hint at another namespace", err)
	}
}
