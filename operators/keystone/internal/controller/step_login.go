package controller

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/config"
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/health"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/proof"
)

// reconcileLogin reports whether the administrator can log in with the password that
// bootstrap has set. The login is verified in the background: after each change of its
// inputs, and rarely otherwise.
func reconcileLogin(ctx context.Context, s *scope) reconcile.Outcome {
	k := s.keystone
	name := client.ObjectKeyFromObject(k)
	switch {
	case service.Config.Value(s.Slots).Options != nil && !takesPasswords(service.Config.Value(s.Slots).Options):
		s.proofs.Suspend(name)
		return reconcile.Done(keystonev1alpha1.ReasonAPIHealthy, "")
	case service.Config.Value(s.Slots).Options == nil || bootstrapJob.Value(s.Slots) == nil:
		return loginOutcome(s, s.proofs.Suspend(name))
	}
	fernet, err := s.Owned.Find(ctx, s.Key(fernetKeysName(k)))
	if err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonHealthCheckFailed, err)
	}
	var tokenKeys map[string][]byte
	if fernet != nil {
		tokenKeys = fernet.Data
	}
	pods, err := deployment.APIPods(ctx, s.Pass)
	if err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonHealthCheckFailed, err)
	}
	return loginOutcome(s, s.proofs.Check(name, loginTarget(s, pods, tokenKeys)))
}

// loginTarget returns the current login to verify. If the only pod of a Deployment was
// replaced, the Deployment's status is the same as before, so the pods are identified as
// well.
func loginTarget(s *scope, pods []corev1.Pod, tokenKeys map[string][]byte) proof.Target {
	k := s.keystone
	refusal, rollout := refusedMessage(s), health.RolloutOf.Value(s.Slots)
	last := meta.FindStatusCondition(k.Status.Conditions, keystonev1alpha1.ConditionKeystoneAPIReady)
	return proof.Target{
		Account: proof.Account{
			URL: internalEndpoint(s.Cluster, k), User: k.Spec.Bootstrap.AdminUser,
			Domain:   service.Config.Value(s.Slots).Options["identity"]["default_domain_id"],
			Password: adminPassword.Value(s.Slots),
		},
		Bootstrap: string(bootstrapJob.Value(s.Slots).UID),
		Inputs:    rollout.State + "/" + podUIDs(pods) + "/" + dataHash(tokenKeys),
		Wait:      !rollout.Serving,
		Retries:   refusedRetries(service.Config.Value(s.Slots).Options),
		Refusal:   refusal,
		Settled:   standing(k).IsDone(),
		Refused:   last != nil && last.Reason == keystonev1alpha1.ReasonAdminPasswordRefused && last.Message == refusal,
	}
}

// podUIDs identifies the pods that are not being deleted.
func podUIDs(pods []corev1.Pod) string {
	var uids []string
	for i := range pods {
		if pods[i].DeletionTimestamp == nil {
			uids = append(uids, string(pods[i].UID))
		}
	}
	slices.Sort(uids)
	return strings.Join(uids, ",")
}

// refusedMessage names the bootstrap after which the password was rejected. A restarted
// operator recognises by it what was tried before.
func refusedMessage(s *scope) string {
	k, last := s.keystone, bootstrapJob.Value(s.Slots)
	ref := k.Spec.Bootstrap.AdminPasswordSecretRef
	return fmt.Sprintf("Keystone rejects the password of %s under %s of Secret %s, which Job %s of %s has set: "+
		"it was changed there, or the user was locked or disabled; correct the Secret, or have bootstrap set the password again "+
		"with another value of the annotation %s",
		k.Spec.Bootstrap.AdminUser, passwordKey(ref), ref.Name, last.Name,
		last.CreationTimestamp.UTC().Format(time.RFC3339), keystonev1alpha1.AnnotationRunAgain)
}

// takesPasswords reports whether Keystone accepts passwords at all, which is the default.
func takesPasswords(options config.INI) bool {
	methods, set := options["auth"]["methods"]
	return !set || slices.Contains(strings.FieldsFunc(methods, func(r rune) bool { return r == ',' || r == ' ' }), "password")
}

// refusedRetries returns how often a rejected password may be retried without any change.
// Keystone counts rejected passwords until it accepts one, and locks the account after
// too many: at least one attempt is left to the user.
func refusedRetries(options config.INI) int {
	limit, set := options["security_compliance"]["lockout_failure_attempts"]
	attempts, err := strconv.Atoi(strings.TrimSpace(limit))
	switch {
	case !set:
		return -1
	case err != nil:
		return 0
	}
	return max(attempts-2, 0)
}

func dataHash(data map[string][]byte) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(data)) {
		_, _ = fmt.Fprintf(sum, "%d:%s%d:%s", len(name), name, len(data[name]), data[name])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// loginReasons maps verdicts on logins to the reasons of the condition. Network errors
// have the reasons of the health check.
var loginReasons = map[proof.Verdict]string{
	proof.Pending:        keystonev1alpha1.ReasonLoginPending,
	proof.Refused:        keystonev1alpha1.ReasonAdminPasswordRefused,
	proof.DatabaseFailed: keystonev1alpha1.ReasonDatabaseUnavailable,
	proof.CacheFailed:    keystonev1alpha1.ReasonCacheUnavailable,
	proof.KeysFailed:     keystonev1alpha1.ReasonTokenKeysUnusable,
	proof.Erred:          keystonev1alpha1.ReasonLoginFailed,
	proof.Odd:            keystonev1alpha1.ReasonLoginFailed,
	proof.TimedOut:       keystonev1alpha1.ReasonLoginTimeout,
}

var networkReasons = map[proof.Verdict]string{
	proof.Unresolved:  keystonev1alpha1.ReasonEndpointNotReady,
	proof.Unreachable: keystonev1alpha1.ReasonConnectionFailed,
	proof.Broken:      keystonev1alpha1.ReasonHealthCheckFailed,
}

// aboutLogin reports whether a condition with the reason means that the API is healthy.
func aboutLogin(reason string) bool {
	return slices.Contains(slices.Collect(maps.Values(loginReasons)), reason)
}

func loginOutcome(s *scope, result proof.Result) reconcile.Outcome {
	switch result.Verdict {
	case proof.Accepted, proof.Uncached:
		return reconcile.Done(keystonev1alpha1.ReasonAPIHealthy, "")
	case proof.Unasked:
		return standing(s.keystone)
	case proof.Pending:
		return loginPending()
	case proof.Refused:
		return reconcile.Terminal(keystonev1alpha1.ReasonAdminPasswordRefused, errors.New(result.Message))
	}
	verdict := blamed(s.keystone, result.Verdict)
	if reason, network := networkReasons[verdict]; network {
		return reconcile.Waiting(reason, result.Message)
	}
	return reconcile.Waiting(loginReasons[verdict], result.Message+loginRemedy(s, verdict))
}

func loginPending() reconcile.Outcome {
	return reconcile.Waiting(keystonev1alpha1.ReasonLoginPending,
		"The administrator's login is not verified yet; that takes API pods and BootstrapReady")
}

// blamed attributes an error that Keystone does not explain to a component that is known
// to be failing.
func blamed(k *keystonev1alpha1.Keystone, verdict proof.Verdict) proof.Verdict {
	switch conditions := k.Status.Conditions; {
	case verdict != proof.Erred:
		return verdict
	case meta.IsStatusConditionFalse(conditions, keystonev1alpha1.ConditionFernetKeysReady):
		return proof.KeysFailed
	case meta.IsStatusConditionFalse(conditions, keystonev1alpha1.ConditionDatabaseReady):
		return proof.DatabaseFailed
	}
	return verdict
}

func loginRemedy(s *scope, verdict proof.Verdict) string {
	k := s.keystone
	database := "the database at " + database.Address(s.Pass)
	cache := "the cache at " + strings.Join(cacheServers(s.Cluster, k), ", ")
	switch verdict {
	case proof.DatabaseFailed:
		return ", because it cannot use " + database + "; look there, and at the log of the API pods"
	case proof.CacheFailed:
		return ", because it cannot use " + cache + "; look there, and at the log of the API pods"
	case proof.KeysFailed:
		return ", because it cannot use the keys of Secret " + fernetKeysName(k) + "; look there, and at the log of the API pods"
	case proof.TimedOut:
		return " to a login; look at " + database + ", at " + cache + " and at the load of the API pods"
	}
	return "; look at the log of the API pods"
}

// standing returns the last outcome about logins while nothing newer is known: a restart
// of the operator does not change it.
func standing(k *keystonev1alpha1.Keystone) reconcile.Outcome {
	last := meta.FindStatusCondition(k.Status.Conditions, keystonev1alpha1.ConditionKeystoneAPIReady)
	switch {
	case last == nil || last.ObservedGeneration != k.Generation:
		return loginPending()
	case last.Status == metav1.ConditionTrue && meta.IsStatusConditionTrue(k.Status.Conditions, keystonev1alpha1.ConditionBootstrapReady):
		return reconcile.Done(keystonev1alpha1.ReasonAPIHealthy, "")
	case last.Reason == keystonev1alpha1.ReasonAdminPasswordRefused:
		return reconcile.Terminal(last.Reason, errors.New(last.Message))
	case aboutLogin(last.Reason):
		return reconcile.Waiting(last.Reason, last.Message)
	}
	return loginPending()
}
