//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
)

// theirProject is a project that a user manages with the control plane's credential.
func (w *world) theirProject(t *testing.T) *orcv1alpha1.Project {
	t.Helper()
	project := &orcv1alpha1.Project{ObjectMeta: w.meta("theirs"), Spec: orcv1alpha1.ProjectSpec{
		CloudCredentialsRef: orcv1alpha1.CloudCredentialsReference{SecretName: "k-orc-clouds-yaml", CloudName: "admin"},
		ManagementPolicy:    orcv1alpha1.ManagementPolicyManaged, Resource: &orcv1alpha1.ProjectResourceSpec{},
	}}
	objects.Create(t, w, project)
	expect.Object(t, w, project, func() error {
		if project.Status.ID == nil {
			return errors.New("it is not available")
		}
		return nil
	})
	return project
}

func TestADeletionWaitsForForeignKORCObjectsAndNamesThem(t *testing.T) {
	t.Parallel()
	w := converged(t)
	project := w.theirProject(t)
	w.delete(t)
	w.expect(t, "KORCReady", metav1.ConditionFalse, "ORCObjectsInUse", "Secret k-orc-clouds-yaml: Project theirs; delete them")
	if _, err := w.works(t.Context()); err != nil {
		t.Errorf("their credential: %v", err)
	}
	objects.Delete(t, w, project)
	expect.Gone(t, w, project)
	expect.Gone(t, w, w.cp)
	if left := korc.Names(w.cp.Namespace, "Project"); len(left) > 0 {
		t.Errorf("Keystone still has %v", left)
	}
}

func TestADeletionDoesNotWaitForeverForForeignKORCObjects(t *testing.T) {
	t.Parallel()
	w := converged(t)
	project := w.theirProject(t)
	w.delete(t)
	w.expect(t, "KORCReady", metav1.ConditionFalse, "ORCObjectsInUse")
	w.pass(t, stall)
	expect.Gone(t, w, w.cp)
	if left := korc.Names(w.cp.Namespace, "ApplicationCredential"); len(left) > 0 {
		t.Errorf("K-ORC got no time to remove %v", left)
	}
	expect.Eventually(t, "events before and after", func(context.Context) error {
		events := expect.Events(t, w, w.cp)
		for _, says := range []string{
			"Project theirs; delete them while there is a Keystone", "remove their finalizers of openstack.k-orc.cloud by hand",
		} {
			if !slices.ContainsFunc(events, func(e expect.Event) bool {
				return e.Reason == "ORCObjectsInUse" && strings.Contains(e.Message, says)
			}) {
				return fmt.Errorf("none says %q: %+v", says, events)
			}
		}
		return nil
	})
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(project), project); err != nil {
		t.Fatal(err)
	}
	objects.Change(t, w, project, func(p *orcv1alpha1.Project) { p.Finalizers = nil })
}
