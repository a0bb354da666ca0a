//go:build integration

package controller_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func TestTheKeystoneWaitsForItsServers(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.seed()
	mariadb.Set("MariaDB", w.cp.Namespace, "openstack-db", standin.Hang())
	memcached.Set(w.cp.Namespace, "openstack-memcached", standin.Fail("no nodes"))
	objects.Create(t, w, w.cp)
	w.expect(t, "InfrastructureReady", metav1.ConditionFalse, "WaitingForDatabase", "MariaDB openstack-db is not ready")
	w.expect(t, "KeystoneReady", metav1.ConditionFalse, "WaitingForInfrastructure", "Waiting for InfrastructureReady")
	w.expect(t, "DBCredentialsReady", metav1.ConditionTrue, "DBCredentialsReady")
	mariadb.Set("MariaDB", w.cp.Namespace, "openstack-db", standin.Succeed())
	w.expect(t, "InfrastructureReady", metav1.ConditionFalse, "WaitingForCache", "Memcached openstack-memcached is not ready: no nodes")
	err := w.Get(t.Context(), client.ObjectKey{Namespace: w.cp.Namespace, Name: "controlplane-keystone"}, &keystonev1alpha1.Keystone{})
	if client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("there is a Keystone before its servers are ready: %v", err)
	}
	memcached.Set(w.cp.Namespace, "openstack-memcached", standin.Succeed())
	w.expect(t, "KeystoneReady", metav1.ConditionFalse, "WaitingForKeystone", "has not processed Keystone controlplane-keystone yet")
	w.report(t, "", "", false)
	w.expect(t, "KeystoneReady", metav1.ConditionFalse, "WaitingForKeystone", "is not ready: pods are starting")
	w.report(t, "2025.2", "", true)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestAServiceIsNotReadyWhileItsServersAreNot(t *testing.T) {
	t.Parallel()
	w := converged(t)
	mariadb.Set("MariaDB", w.cp.Namespace, "openstack-db", standin.Fail("no quorum"))
	w.expect(t, "KeystoneReady", metav1.ConditionFalse, "WaitingForInfrastructure")
	if w.cp.Status.Services[0].Ready {
		t.Error("services says it is")
	}
}

func TestAMissingStoreEntryIsReportedWithItsPath(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	objects.Create(t, w, w.cp)
	w.expect(t, "DBCredentialsReady", metav1.ConditionFalse, "WaitingForDBCredentialSecret",
		"username and password at openstack/keystone/"+w.cp.Namespace+"/controlplane/db")
	w.expect(t, "AdminPasswordReady", metav1.ConditionFalse, "WaitingForAdminPasswordSecret",
		"password at bootstrap/"+w.cp.Namespace+"/controlplane-keystone/admin")
	w.seed()
	w.expect(t, "DBCredentialsReady", metav1.ConditionTrue, "DBCredentialsReady")
	w.expect(t, "AdminPasswordReady", metav1.ConditionTrue, "AdminPasswordReady")
}

func TestABrokenStoreDoesNotInvalidateDeliveredCredentials(t *testing.T) {
	working := converged(t)
	secrets.Set("ClusterSecretStore", "", "openbao-cluster-store", standin.Fail("sealed"))
	t.Cleanup(func() { secrets.Set("ClusterSecretStore", "", "openbao-cluster-store", standin.Succeed()) })
	w := emptyWorld(t)
	objects.Create(t, w, w.cp)
	w.expect(t, "DBCredentialsReady", metav1.ConditionFalse, "SecretStoreNotReady", "ClusterSecretStore openbao-cluster-store is not ready")
	touch(t, working, "controlplane", working.cp, working.cp)
	working.expect(t, "DBCredentialsReady", metav1.ConditionTrue, "DBCredentialsReady")
	secrets.Set("ClusterSecretStore", "", "openbao-cluster-store", standin.Succeed())
	w.expect(t, "DBCredentialsReady", metav1.ConditionFalse, "WaitingForDBCredentialSecret")
}

func TestAKeystoneSpecRefusedByTheAPIServerIsReportedAsStalled(t *testing.T) {
	t.Parallel()
	w := converged(t)
	objects.Change(t, w, w.keystone(t), func(k *keystonev1alpha1.Keystone) {
		k.Spec.Autoscaling = &commonv1.AutoscalingSpec{MaxReplicas: 4, TargetCPUUtilization: new(int32(80))}
	})
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Services.Keystone.Replicas = new(int32(5)) })
	w.expect(t, "KeystoneReady", metav1.ConditionFalse, "KeystoneProjectionRejected", "spec.autoscaling.maxReplicas")
	w.expect(t, "Stalled", metav1.ConditionTrue, "KeystoneProjectionRejected")
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Services.Keystone.Replicas = new(int32(4)) })
	w.expect(t, "KeystoneReady", metav1.ConditionFalse, "WaitingForKeystone")
}

func TestOnlyTheOldestOfTwoControlPlanesIsWorkedOn(t *testing.T) {
	t.Parallel()
	w := converged(t)
	second := w.cp.DeepCopy()
	second.ObjectMeta = w.meta("zweite")
	second.Status = c5c3v1alpha1.ControlPlaneStatus{}
	second.Spec.Infrastructure.Database.ClusterRef.Name = "second-db"
	objects.Create(t, w, second)
	expect.Condition(t, w, second, "Ready", metav1.ConditionFalse, "DuplicateControlPlane", "ControlPlane controlplane is older")
	if len(second.Status.Conditions) != 1 || len(second.Finalizers) > 0 {
		t.Errorf("conditions %v and finalizers %v", second.Status.Conditions, second.Finalizers)
	}
	err := w.Get(t.Context(), client.ObjectKey{Namespace: w.cp.Namespace, Name: "second-db"}, &infraapi.MariaDB{})
	if client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("its database was created: %v", err)
	}
	objects.Delete(t, w, w.cp)
	expect.Condition(t, w, second, "KeystoneReady", metav1.ConditionFalse, "WaitingForKeystone")
}

func TestAnInvalidSpecThatBypassedTheWebhookIsReportedInTheStatus(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.cp.Spec.Services.Keystone.PublicEndpoint = "https:///v3"
	objects.Create(t, w, w.cp)
	w.expect(t, "Ready", metav1.ConditionFalse, "InvalidSpec", "spec.services.keystone.publicEndpoint")
	w.expect(t, "Stalled", metav1.ConditionTrue, "InvalidSpec")
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Services.Keystone.PublicEndpoint = "" })
	w.expect(t, "InfrastructureReady", metav1.ConditionTrue, "InfrastructureReady")
}
