//go:build integration

package controller_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// ready waits until the Keystone is ready and leaves its state in k.
func ready(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone) {
	t.Helper()
	expect.Condition(t, c, k, keystonev1alpha1.ConditionReady, metav1.ConditionTrue, keystonev1alpha1.ReasonAllReady)
}

// backedUp waits until the operator knows that the store has the keys.
func backedUp(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone) {
	t.Helper()
	expect.Condition(t, c, k, keystonev1alpha1.ConditionBackupHealthy, metav1.ConditionTrue, keystonev1alpha1.ReasonKeysBackedUp)
}

func children(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone) []testutil.Child {
	t.Helper()
	found, err := testutil.Children(t.Context(), c, k.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAKeystoneConverges(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		c, k, _ := converged(t, m)
		for conditionType, reason := range map[string]string{
			"SecretsReady":        "SecretsAvailable",
			"DatabaseTLSReady":    "NotRequired",
			"FernetKeysReady":     "FernetKeysAvailable",
			"CredentialKeysReady": "CredentialKeysAvailable",
			"NetworkPolicyReady":  "NetworkPolicyNotRequired",
			"DatabaseReady":       "DatabaseSynced",
			"PolicyValidReady":    "PolicyValidationNotRequired",
			"DeploymentReady":     "DeploymentReady",
			"HTTPRouteReady":      "HTTPRouteNotRequired",
			"KeystoneAPIReady":    "APIHealthy",
			"HPAReady":            "HPANotRequired",
			"BootstrapReady":      "BootstrapComplete",
			"TrustFlushReady":     "TrustFlushReady",
			"LoggingHealthy":      "StderrEnabled",
			"BackupHealthy":       "KeysBackedUp",
			"Ready":               "AllReady",
		} {
			expect.Condition(t, c, k, conditionType, metav1.ConditionTrue, reason)
		}
		for _, condition := range k.Status.Conditions {
			if condition.Status != metav1.ConditionTrue || condition.ObservedGeneration != k.Generation {
				t.Errorf("%s is %s, about generation %d of %d", condition.Type, condition.Status, condition.ObservedGeneration, k.Generation)
			}
		}
		status := k.Status.DeepCopy()
		status.Conditions = nil
		if diff := cmp.Diff(&keystonev1alpha1.KeystoneStatus{ServiceStatus: commonv1.ServiceStatus{
			ObservedGeneration: k.Generation,
			Endpoint:           "http://keystone." + k.Namespace + ".svc.cluster.local:5000/v3",
			InstalledRelease:   "2025.2",
		}}, status); diff != "" {
			t.Errorf("status (-want +got):\n%s", diff)
		}
	})
}

func TestEveryChildIsControlledByItsKeystone(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		c, k, _ := converged(t, m)
		want := []string{
			"ConfigMap keystone-config-HASH", "Deployment keystone", "Job keystone-bootstrap", "Job keystone-db-sync",
			"Job keystone-schema-check", "PodDisruptionBudget keystone", "Secret keystone-credential-keys",
			"Secret keystone-db-connection", "Secret keystone-fernet-keys", "Service keystone",
		}
		if m.name == "managed" {
			want = append(want, "Database keystone", "Grant keystone", "User keystone")
		}
		found := children(t, c, k)
		names := testutil.Names(found)
		for _, name := range want {
			if !slices.Contains(names, name) {
				t.Errorf("there is no %s", name)
			}
		}
		controller := metav1.OwnerReference{
			APIVersion: keystonev1alpha1.GroupVersion.String(), Kind: "Keystone", Name: k.Name, UID: k.UID,
			Controller: new(true), BlockOwnerDeletion: new(true),
		}
		for _, child := range found {
			owners := []metav1.OwnerReference{controller}
			if k.ServiceSpec().KeepsData() && strings.HasSuffix(child.Name, "-keys") {
				owners = nil
			}
			if diff := cmp.Diff(owners, child.OwnerReferences); diff != "" {
				t.Errorf("owners of %s (-want +got):\n%s", child, diff)
			}
			labels := map[string]string{}
			for _, key := range []string{"app.kubernetes.io/instance", "app.kubernetes.io/managed-by"} {
				labels[key] = child.Labels[key]
			}
			if diff := cmp.Diff(map[string]string{
				"app.kubernetes.io/instance": k.Name, "app.kubernetes.io/managed-by": "keystone-operator",
			}, labels); diff != "" {
				t.Errorf("labels of %s (-want +got):\n%s", child, diff)
			}
		}
	})
}

// maxStatusWrites is the target for converging from nothing: two Jobs one after
// the other, then the API pods and bootstrap side by side, then the answer of
// the API and that to a login, and beside them the copies of the keys. How many of
// the last five share a write depends on timing.
const maxStatusWrites = 8

func TestConvergingWritesEachChildOnceAndTheStatusRarely(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		c, k, operator := converged(t, m)
		operator.Stop()
		writes := operator.Requests.All().Writes().Filter(transport.Request.Stored)
		own := writes.Filter(func(r transport.Request) bool { return r.Resource == "keystones" })
		status := own.Filter(func(r transport.Request) bool { return r.Subresource == "status" })
		found := children(t, c, k)
		t.Logf("%d writes for %d children: %d of status, %d of the Keystone itself; %d events; %d requests in all",
			len(writes), len(found), len(status), len(own)-len(status),
			len(operator.Requests.All().Events()), len(operator.Requests.All()))
		if got := len(writes) - len(own); got != len(found) {
			t.Errorf("%d writes of %d children, expected one of each:\n%s", got, len(found), writes)
		}
		limit := maxStatusWrites
		if m.name == "managed" {
			limit++ // the wait for mariadb-operator
		}
		if len(status) > limit {
			t.Errorf("%d status writes, expected at most %d:\n%s", len(status), limit, writes)
		}
		// Whether the two Jobs on the schema are counted together depends on timing.
		if got := len(own) - len(status); got < 2 || got > 3 {
			t.Errorf("%d writes of the Keystone itself, expected that of its finalizers and one or two of the counted Jobs:\n%s", got, own)
		}
	})
}

// needed leaves out what depends on how soon a watch tells of a child: a pass that
// does not know it yet applies it as a new one, is refused, and looks at it.
func needed(requests transport.Requests) transport.Requests {
	type object struct{ group, resource, namespace, name string }
	refused := map[object]int{}
	return requests.Filter(func(r transport.Request) bool {
		of := object{r.Group, r.Resource, r.Namespace, r.Name}
		switch {
		case r.Verb == "apply" && r.Code == http.StatusConflict:
			refused[of]++
			return false
		case r.Verb == "get" && refused[of] > 0:
			refused[of]--
			return false
		default:
			return true
		}
	})
}

func TestAChildThatTheCacheDoesNotShowYetIsWrittenOnce(t *testing.T) {
	c, namespace := newNamespace(t)
	holds := &transport.Holds{}
	operator := testutil.Start(t, holds.Config(asOperator), namespace)
	k := testutil.Brownfield(namespace, testutil.Name)
	objects.Create(t, c, k)
	// Its caches are filled by a watch, too.
	expect.Condition(t, c, k, keystonev1alpha1.ConditionReady, metav1.ConditionFalse, keystonev1alpha1.ReasonNotAllReady)
	release := holds.Hold(func(watch *http.Request) bool { return transport.Parse(watch).Resource == "pushsecrets" })
	t.Cleanup(release)
	objects.Create(t, c, testutil.Secrets(namespace)...)
	ready(t, c, k)
	release()
	backedUp(t, c, k)
	operator.Stop()
	copies := operator.Requests.All().Filter(func(r transport.Request) bool { return r.Resource == "pushsecrets" })
	stored := copies.Filter(transport.Request.Stored)
	if len(stored) != 2 || stored[0].Name == stored[1].Name {
		t.Errorf("stored were, expected one write for each kind of keys:\n%s", stored)
	}
	if len(copies.Writes()) == len(stored) {
		t.Errorf("no pass took a PushSecret for a new one:\n%s", copies)
	}
	reads := needed(copies).Filter(func(r transport.Request) bool { return r.Verb == "get" })
	if len(reads) > 0 {
		t.Errorf("read without need:\n%s", reads)
	}
}

func TestConvergingReadsNothingButWhatTheUserRefersTo(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		_, k, operator := converged(t, m)
		operator.Stop()
		named := map[string]int{}
		for _, r := range needed(operator.Requests.All()) {
			if r.Resource != "" && r.Verb == "get" {
				named[r.Resource+" "+r.Name]++
			}
		}
		want := map[string]int{
			"secrets " + k.Spec.Database.SecretRef.Name:               1,
			"secrets " + k.Spec.Bootstrap.AdminPasswordSecretRef.Name: 1,
		}
		if diff := cmp.Diff(want, named); diff != "" {
			t.Errorf("reads from the API server (-want +got):\n%s", diff)
		}
	})
}

// convergence is how many requests of each verb a Keystone may take to become ready.
// Each child is one create or apply. Jobs that are counted apart from each other
// cost one patch more.
var convergence = map[string]int{"get": 2, "create": 11, "apply": 14, "patch": 3, "update": maxStatusWrites, "event": 4}

func TestConvergingTakesAFewRequestsOfEachVerb(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		limits := maps.Clone(convergence)
		if m.name == "managed" {
			limits["apply"] += 3 // Database, User and Grant
			limits["update"]++   // the wait for mariadb-operator
		}
		c, k, operator := converged(t, m)
		settle(t, c, k, operator)
		operator.Stop()
		made := map[string]int{}
		for _, r := range needed(operator.Requests.All()) {
			if r.Resource == "" || r.Verb == "list" {
				continue
			}
			verb := r.Verb
			if r.Event() {
				verb = "event"
			}
			made[verb]++
		}
		for verb, times := range made {
			if times > limits[verb] {
				t.Errorf("%d requests to %s, expected at most %d of %v", times, verb, limits[verb], limits)
			}
		}
		t.Log(made)
	})
}

func TestEventsMarkTransitionsOnly(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		c, k, operator := converged(t, m)
		for range 3 {
			pass(t, c, k, operator)
		}
		announced := operator.Announced()
		for _, reason := range []string{"FernetKeysGenerated", "CredentialKeysGenerated", "DatabaseSynced", "BootstrapComplete"} {
			if announced["Normal "+reason] == 0 {
				t.Errorf("there is no event %s", reason)
			}
		}
		for event, times := range announced {
			if times != 1 {
				t.Errorf("the event %s occurred %d times, expected once", event, times)
			}
			if !strings.HasPrefix(event, "Normal ") {
				t.Errorf("a converging Keystone has the event %s", event)
			}
			expectEvent(t, c, k, event)
		}
	})
}

func TestNoConditionIsLeftOverFromTheWayToReady(t *testing.T) {
	_, k, _ := converged(t, modes[0])
	for _, abnormal := range []string{keystonev1alpha1.ConditionReconciling, keystonev1alpha1.ConditionStalled} {
		if condition := meta.FindStatusCondition(k.Status.Conditions, abnormal); condition != nil {
			t.Errorf("a ready Keystone has the condition %+v", condition)
		}
	}
}
