package report

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/testutil"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func TestObjectsOfOtherProjectsThatAreNotReadyAreLookedAt(t *testing.T) {
	cp := testutil.ControlPlane(testutil.NotReady(false, testutil.False(c5c3v1alpha1.ConditionKORCReady,
		c5c3v1alpha1.ReasonApplicationCredentialFailed, "K-ORC cannot create it"))...)
	found := &inventory.Inventory{Now: testutil.Now, Namespace: testutil.Namespace, ControlPlanes: []c5c3v1alpha1.ControlPlane{*cp}}
	found.ThirdParty = []unstructured.Unstructured{
		testutil.ThirdParty("k8s.mariadb.com/v1alpha1", "User", "keystone", cp, testutil.True("Ready", "Created")),
		testutil.ThirdParty("openstack.k-orc.cloud/v1alpha1", "User", "admin", cp, testutil.False("Available", "TransientError", "EOF")),
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
		if !strings.Contains(r.Causes[0].Message, operator) || !strings.HasSuffix(r.Next[0], "name="+operator) ||
			r.Next[1] != "kubectl forge doctor -n openstack" {
			t.Errorf("got %q and %q", r.Causes[0].Message, r.Next)
		}
	}
}

func TestEveryKeystoneCauseHasACommand(t *testing.T) {
	tests := []struct{ condition, reason, message, want string }{
		{
			"SecretsReady", vocabulary.ReasonSecretStoreNotReady, "",
			"kubectl describe clustersecretstores openbao-cluster-store openbao-infrastructure-store",
		},
		{"SecretsReady", vocabulary.ReasonConfigError, "", "kubectl -n openstack edit keystone keystone"},
		{
			"SecretsReady", vocabulary.ReasonConfigCheckInProgress,
			"container config-check of pod keystone-config-check-q8v4n ended with exit code 1: [token] expiration: the value does not fit",
			"kubectl -n openstack edit keystone keystone",
		},
		{"SecretsReady", vocabulary.ReasonConfigCheckInProgress, "", "kubectl forge wait keystone/keystone -n openstack"},
		{
			"DeploymentReady", vocabulary.ReasonWaitingForDeployment,
			"pod keystone-6d4b-x7k2p is running but not ready: readiness requires a login to the database at mariadb:3306 " +
				"and an answer from the API",
			"kubectl -n openstack get endpointslices -l kubernetes.io/service-name=mariadb",
		},
		{"DatabaseReady", vocabulary.ReasonExpandFailed, "", "kubectl forge upgrade keystone/keystone -n openstack --abort"},
		{"DatabaseReady", vocabulary.ReasonDowngradeNotSupported, "", "kubectl forge upgrade keystone/keystone -n openstack --abort"},
		{
			"DatabaseReady", vocabulary.ReasonUpgradeAbortRefused, "",
			"kubectl forge upgrade keystone/keystone -n openstack --to 2026.1",
		},
		{"DatabaseReady", vocabulary.ReasonMariaDBNotInstalled, "", "kubectl forge doctor -n openstack"},
		{
			"DatabaseReady", vocabulary.ReasonDBSyncFailed, "Access denied for user 'keystone'",
			"kubectl -n openstack edit secret keystone-db",
		},
		{"FernetKeysReady", keystonev1alpha1.ReasonRotationFailed, "", "kubectl forge rotate fernet keystone/keystone -n openstack"},
		{"PasswordRotationReady", keystonev1alpha1.ReasonRotationFailed, "", "kubectl forge rotate password keystone/keystone -n openstack"},
		{
			"DeploymentReady", vocabulary.ReasonWaitingForDeployment, "no pod can be created: exceeded quota: small",
			"kubectl -n openstack describe resourcequota",
		},
		{"DeploymentReady", vocabulary.ReasonWaitingForDeployment, "pod x cannot be scheduled: 0/1 nodes", "kubectl describe nodes"},
	}
	for _, tc := range tests {
		t.Run(tc.reason+" "+tc.message, func(t *testing.T) {
			k := testutil.Installed(testutil.NotReady(true, testutil.False(tc.condition, tc.reason, tc.message))...)
			k.Status.TargetRelease = "2026.1"
			r := build(t, testutil.Of(k))
			if r.Next[0] != tc.want {
				t.Errorf("got %q, expected %q first", r.Next, tc.want)
			}
		})
	}
}

func TestEveryControlPlaneCauseHasACommand(t *testing.T) {
	tests := []struct{ reason, want string }{
		{c5c3v1alpha1.ReasonSecretStoreNotReady, "kubectl describe clustersecretstores openbao-cluster-store openbao-infrastructure-store"},
		{c5c3v1alpha1.ReasonKORCNotInstalled, "kubectl forge doctor -n openstack"},
		{c5c3v1alpha1.ReasonEndpointRegionError, "kubectl -n openstack get endpoints.openstack.k-orc.cloud"},
		{"AnyOther", "kubectl forge wait controlplane/controlplane -n openstack"},
	}
	for _, tc := range tests {
		t.Run(tc.reason, func(t *testing.T) {
			cp := testutil.ControlPlane(testutil.NotReady(false, testutil.False("KORCReady", tc.reason, "something"))...)
			found := &inventory.Inventory{Now: testutil.Now, Namespace: testutil.Namespace, ControlPlanes: []c5c3v1alpha1.ControlPlane{*cp}}
			if next := build(t, found).Next; next[0] != tc.want {
				t.Errorf("got %q, expected %q first", next, tc.want)
			}
		})
	}
}

func TestEveryPlacementCauseHasACommand(t *testing.T) {
	tests := []struct{ condition, reason, message, want string }{
		{"ServiceUserReady", vocabulary.ReasonServiceUserRefused, "", "kubectl -n openstack edit secret placement-user"},
		{"SecretsReady", vocabulary.ReasonConfigError, "", "kubectl -n openstack edit placement placement"},
		{"DatabaseReady", vocabulary.ReasonExpandFailed, "", "kubectl forge upgrade placement/placement -n openstack --abort"},
	}
	for _, tc := range tests {
		t.Run(tc.reason, func(t *testing.T) {
			p := testutil.Placement(testutil.NotReady(false, testutil.False(tc.condition, tc.reason, tc.message))...)
			if next := build(t, testutil.Of(p)).Next; next[0] != tc.want {
				t.Errorf("got %q, expected %q first", next, tc.want)
			}
		})
	}
}

func TestTheAbortOfAManagedKeystoneTargetsItsControlPlane(t *testing.T) {
	found := testutil.BrokenService()
	testutil.KeystoneIn(found).Status.Conditions = testutil.NotReady(true,
		testutil.False(vocabulary.ConditionDatabaseReady, vocabulary.ReasonExpandFailed, "failed"))
	if next := build(t, found).Next[0]; next != "kubectl forge upgrade controlplane/controlplane -n openstack --abort" {
		t.Errorf("got %q", next)
	}
}

func TestAnAbortIsNotAdvisedOnceAnotherServiceIsUpgraded(t *testing.T) {
	found := testutil.BrokenService()
	p := testutil.Placement(testutil.NotReady(true,
		testutil.False(vocabulary.ConditionDatabaseReady, vocabulary.ReasonExpandFailed, "Job controlplane-placement-db-expand failed"))...)
	cp := &found.ControlPlanes[0]
	p.ObjectMeta = testutil.Meta("controlplane-placement", cp, inventory.KindPlacement)
	p.Status.TargetRelease = "2026.1"
	found.Services = append(found.Services, testutil.Service(p))
	for installed, want := range map[string]string{
		"2025.2": "kubectl forge upgrade controlplane/controlplane -n openstack --abort",
		"2026.1": "kubectl -n openstack get endpointslices -l kubernetes.io/service-name=mariadb",
	} {
		testutil.KeystoneIn(found).Status.InstalledRelease = installed
		r, err := Build(found, testutil.Service(p).Ref())
		if err != nil || r.Next[0] != want {
			t.Errorf("with a Keystone of release %s: %v, got %q, expected %q", installed, err, r.Next, want)
		}
	}
}

func TestAnImagePullFailureDuringAnUpgradeAdvisesAbortOrCorrection(t *testing.T) {
	const abort, edit = "kubectl forge upgrade keystone/keystone -n openstack --abort", "kubectl -n openstack edit keystone keystone"
	for _, tc := range []struct {
		installed string
		phase     commonv1.UpgradePhase
		want      []string
	}{
		{"2025.2", commonv1.UpgradePhaseExpanding, []string{abort, edit}},
		{"2026.1-fixed", "", []string{abort, edit}},
		{"2025.2", commonv1.UpgradePhaseContracting, []string{edit}},
		{"2026.1", "", []string{edit}},
		{"", "", []string{edit}},
	} {
		k := testutil.Keystone(testutil.NotReady(false, testutil.False("DatabaseReady", vocabulary.ReasonDBSyncInProgress,
			`Job keystone-db-sync is installing the database schema, but pod p cannot pull image "keystone:2026.1"`))...)
		k.Spec.Image.Tag, k.Status.InstalledRelease, k.Status.UpgradePhase = "2026.1", tc.installed, tc.phase
		if next := build(t, testutil.Of(k)).Next; !slices.Equal(next[:len(tc.want)], tc.want) {
			t.Errorf("from %q in phase %q: got %q, expected %q first", tc.installed, tc.phase, next, tc.want)
		}
	}
}

func TestADatabaseLoginFailureAdvisesToEditTheSecret(t *testing.T) {
	for code, want := range map[string]string{
		"1045": "kubectl -n openstack edit secret keystone-db",
		"2003": "kubectl -n openstack get endpointslices -l kubernetes.io/service-name=mariadb",
	} {
		k := testutil.Keystone(testutil.NotReady(false, testutil.False("DeploymentReady", vocabulary.ReasonWaitingForDeployment,
			"pod keystone-a is running but not ready: readiness requires a login to the database at mariadb:3306 and an answer from the API"))...)
		found := testutil.Of(k)
		pod := testutil.APIPod(k, "keystone-a", false, corev1.ContainerStatus{})
		found.Pods = append(found.Pods, pod)
		found.Unready = map[types.UID]string{pod.UID: "No login to the database at mariadb:3306 (error " + code + ")"}
		if next := build(t, found).Next; next[0] != want {
			t.Errorf("error %s: got %q, expected %q first", code, next, want)
		}
	}
}

func TestARefusedServiceUserDuringAnUpgradeAdvisesAbort(t *testing.T) {
	edit := "kubectl -n openstack edit secret placement-user"
	abort := "kubectl forge upgrade placement/placement -n openstack --abort"
	for tag, want := range map[string][]string{"2025.2": {edit}, "2026.1": {abort, edit}} {
		p := testutil.Placement(testutil.NotReady(false,
			testutil.False("ServiceUserReady", vocabulary.ReasonServiceUserRefused, "cannot validate tokens"))...)
		p.Spec.Image.Tag = tag
		if next := build(t, testutil.Of(p)).Next; !slices.Equal(next[:len(want)], want) {
			t.Errorf("with image %s: got %q, expected %q first", tag, next, want)
		}
	}
}

func TestTheDatabaseCommandDependsOnTheDatabaseHost(t *testing.T) {
	tests := []struct{ host, want string }{
		{"mariadb", "kubectl -n openstack get endpointslices -l kubernetes.io/service-name=mariadb"},
		{"mariadb.database.svc", "kubectl -n database get endpointslices -l kubernetes.io/service-name=mariadb"},
		{"mariadb.database.svc.cluster.local", "kubectl -n database get endpointslices -l kubernetes.io/service-name=mariadb"},
		{"db.example.com", "kubectl -n openstack get keystone keystone -o jsonpath={.spec.database}"},
		{"192.0.2.7", "kubectl -n openstack get keystone keystone -o jsonpath={.spec.database}"},
	}
	for _, tc := range tests {
		k := testutil.Keystone()
		k.Spec.Database.Host = tc.host
		if got := describeDatabase(testutil.Service(k)); got != tc.want {
			t.Errorf("%s: got %q, expected %q", tc.host, got, tc.want)
		}
	}
	k := testutil.Keystone()
	k.Spec.Database.ClusterRef = &corev1.LocalObjectReference{Name: "openstack-db"}
	if got := describeDatabase(testutil.Service(k)); got != "kubectl -n openstack describe mariadb openstack-db" {
		t.Errorf("got %q", got)
	}
}

func TestAdviceIsLimitedAndEndsWithWait(t *testing.T) {
	var conditions []metav1.Condition
	for name := range rotationOf {
		conditions = append(conditions, testutil.False(name, keystonev1alpha1.ReasonRotationFailed, "failed"))
	}
	conditions = append(conditions,
		testutil.False("SecretsReady", vocabulary.ReasonSecretStoreNotReady, ""),
		testutil.False("DatabaseReady", vocabulary.ReasonClusterNotReady, ""),
		testutil.False("KeystoneAPIReady", vocabulary.ReasonConfigError, ""))
	next := build(t, testutil.Of(testutil.Installed(testutil.NotReady(true, conditions...)...))).Next
	if len(next) != maxCommands || next[len(next)-1] != "kubectl forge wait keystone/keystone -n openstack" {
		t.Errorf("got %q", next)
	}
}
