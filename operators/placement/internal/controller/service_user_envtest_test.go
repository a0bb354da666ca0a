//go:build integration

package controller_test

import (
	"encoding/json"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/conformance"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

const checkJob = "placement-service-user-check"

// started creates a Placement and the objects that it refers to, except the named ones,
// under a new operator.
func started(t *testing.T, without ...string) *conformance.Instance[*placementv1alpha1.Placement] {
	t.Helper()
	p := conformance.Prepared(t, placements, &world, without...)
	p.Create()
	return p
}

// givenUser returns the line with the password in the configuration that pods have.
func givenUser(t *testing.T, p *placementv1alpha1.Placement) string {
	t.Helper()
	deploy := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name}}
	expect.Exists(t, world.Admin, deploy)
	for _, volume := range deploy.Spec.Template.Spec.Volumes {
		if volume.Projected == nil {
			continue
		}
		for _, source := range volume.Projected.Sources {
			if source.Secret == nil {
				continue
			}
			options := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: source.Secret.Name}}
			expect.Exists(t, world.Admin, options)
			for _, content := range options.Data {
				for line := range strings.Lines(string(content)) {
					if strings.HasPrefix(line, "password") {
						return strings.TrimSpace(line)
					}
				}
			}
		}
	}
	t.Fatal("the pods have no password")
	return ""
}

func TestPodsGetAServiceUserOnceKeystoneAcceptsIt(t *testing.T) {
	t.Parallel()
	i := started(t)
	i.Ready()
	p := i.Resource
	const first = "password = user-pa$$$$word"
	if got := givenUser(t, p); got != first {
		t.Fatalf("pods have %q, want %q", got, first)
	}
	world.Jobs.Set(p.Namespace, checkJob, standin.Hang())
	objects.Create(t, world.Admin, secret(p.Namespace, "placement-user-2", "placement-2", "second"))
	objects.Change(t, world.Admin, p, func(p *placementv1alpha1.Placement) { p.Spec.ServiceUserSecretRef.Name = "placement-user-2" })
	i.Fails("ServiceUserReady", "ServiceUserCheckInProgress")
	world.Jobs.Set(p.Namespace, checkJob, standin.Fail("Keystone refuses the user"))
	i.Fails("ServiceUserReady", "ServiceUserRefused", "correct the Secret, the user, spec.identity or spec.image", "Keystone refuses the user")
	if got := givenUser(t, p); got != first {
		t.Errorf("pods have %q, which Keystone refuses", got)
	}
	world.Jobs.Set(p.Namespace, checkJob, standin.Succeed())
	setPassword(t, p.Namespace, "placement-user-2", "third")
	i.Ready()
	if got := givenUser(t, p); got != "password = third" {
		t.Errorf("pods have %q after the password was corrected", got)
	}
}

func setPassword(t *testing.T, namespace, user, password string) {
	t.Helper()
	objects.Change(t, world.Admin, secret(namespace, user, "", ""), func(s *corev1.Secret) { s.Data["password"] = []byte(password) })
}

func TestAPlacementWaitsForItsServiceUser(t *testing.T) {
	t.Parallel()
	i := started(t, "placement-user")
	namespace := i.Resource.Namespace
	i.Fails("SecretsReady", "WaitingForServiceUser")
	objects.Create(t, world.Admin, secret(namespace, "placement-user", "placement", "pass\nword"))
	i.Fails("SecretsReady", "SecretInvalid")
	setPassword(t, namespace, "placement-user", "password")
	i.Ready()
}

// Everyone with access to the namespace can read ConfigMaps and pod specs.
func TestNoPasswordLeavesASecret(t *testing.T) {
	t.Parallel()
	i := started(t)
	i.Ready()
	for _, list := range []client.ObjectList{
		&corev1.ConfigMapList{}, &appsv1.DeploymentList{}, &batchv1.JobList{}, &placementv1alpha1.PlacementList{}, &corev1.EventList{},
	} {
		if err := world.Admin.List(t.Context(), list, client.InNamespace(i.Resource.Namespace)); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		for _, password := range []string{"database-password", "user-pa$"} {
			if strings.Contains(string(text), password) {
				t.Errorf("%T has a password", list)
			}
		}
	}
}
