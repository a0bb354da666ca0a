// Package login reports whether the API of a Keystone answers, and whether the administrator
// can log in.
package login

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

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/ask"
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/health"
	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/probe"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/proof"
)

// Reconcile reports whether the administrator can log in with the password that bootstrap
// has set. The login is verified in the background: after each change of its inputs, and
// rarely otherwise.
func Reconcile(ctx context.Context, s *pass.Scope) reconcile.Outcome {
	if options := service.Config.Value(s.Slots).Options; options != nil && !takesPasswords(options) {
		s.Own.Proofs.Suspend(client.ObjectKeyFromObject(s.Resource))
		return reconcile.Done(vocabulary.ReasonAPIHealthy, "")
	}
	result, err := verify(ctx, s)
	if err == nil && (result.Verdict == ask.Rejected || result.Verdict == ask.Accepted) {
		err = record(ctx, s, result.Verdict == ask.Rejected)
	}
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonHealthCheckFailed, err)
	}
	return report(s, result)
}

// verify returns the result of the last login, and starts another one if that is due.
func verify(ctx context.Context, s *pass.Scope) (ask.Answer, error) {
	name := client.ObjectKeyFromObject(s.Resource)
	if service.Config.Value(s.Slots).Options == nil || pass.BootstrapJob.Value(s.Slots) == nil {
		return s.Own.Proofs.Suspend(name), nil
	}
	fernet, err := s.Owned.Find(ctx, s.Key(pass.FernetKeysName(s.Resource)))
	if err != nil {
		return ask.Answer{}, err
	}
	var tokenKeys map[string][]byte
	if fernet != nil {
		tokenKeys = fernet.Data
	}
	pods, err := deployment.APIPods(ctx, s.Pass)
	if err != nil {
		return ask.Answer{}, err
	}
	return s.Own.Proofs.Check(name, targetOf(s, pods, tokenKeys)), nil
}

// targetOf returns the current login to verify. If the only pod of a Deployment was
// replaced, the Deployment's status is the same as before, so the pods are identified as
// well.
func targetOf(s *pass.Scope, pods []corev1.Pod, tokenKeys map[string][]byte) proof.Target {
	k := s.Resource
	rollout := health.RolloutOf.Value(s.Slots)
	return proof.Target{
		Account: proof.Account{
			URL: pass.InternalEndpoint(s.Cluster, k), User: k.Spec.Bootstrap.AdminUser,
			Domain:   service.Config.Value(s.Slots).Options["identity"]["default_domain_id"],
			Password: pass.AdminPassword.Value(s.Slots),
		},
		Bootstrap: string(pass.BootstrapJob.Value(s.Slots).UID),
		Inputs:    rollout.State + "/" + podUIDs(pods) + "/" + dataHash(tokenKeys),
		Wait:      !rollout.Serving,
		Retries:   refusedRetries(service.Config.Value(s.Slots).Options),
		Refusal:   refusedMessage(s),
		Before:    before(k, pass.BootstrapJob.Value(s.Slots)),
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

// refusedMessage tells the user which password was rejected, and after which bootstrap.
func refusedMessage(s *pass.Scope) string {
	k, last := s.Resource, pass.BootstrapJob.Value(s.Slots)
	ref := k.Spec.Bootstrap.AdminPasswordSecretRef
	return fmt.Sprintf("Keystone rejects the password of %s under %s of Secret %s, which %s has set: "+
		"it was changed there, or the user was locked or disabled; correct the Secret, or have bootstrap set the password again "+
		"with another value of the annotation %s",
		k.Spec.Bootstrap.AdminUser, pass.AdminPasswordKey(k), ref.Name, runOf(last), keystonev1alpha1.AnnotationRunAgain)
}

// takesPasswords reports whether Keystone accepts passwords at all, which is the default.
func takesPasswords(options ini.File) bool {
	methods, set := options["auth"]["methods"]
	return !set || slices.Contains(Methods(methods), "password")
}

// Methods returns the methods that a value of [auth] methods names. oslo.config takes away quotes around the value.
func Methods(value string) []string {
	return strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(`, "'`, r) })
}

// refusedRetries returns how often a rejected password may be retried without any change.
// Keystone counts rejected passwords until it accepts one, and locks the account after
// too many: at least one attempt is left to the user.
func refusedRetries(options ini.File) int {
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

// reasons maps verdicts on logins to the reasons of the condition. Network errors
// have the reasons of the health check.
var reasons = map[ask.Verdict]string{
	ask.Pending:          keystonev1alpha1.ReasonLoginPending,
	ask.Rejected:         keystonev1alpha1.ReasonAdminPasswordRefused,
	proof.DatabaseFailed: keystonev1alpha1.ReasonDatabaseUnavailable,
	proof.CacheFailed:    keystonev1alpha1.ReasonCacheUnavailable,
	proof.KeysFailed:     keystonev1alpha1.ReasonTokenKeysUnusable,
	proof.Erred:          keystonev1alpha1.ReasonLoginFailed,
	proof.Odd:            keystonev1alpha1.ReasonLoginFailed,
	probe.TimedOut:       keystonev1alpha1.ReasonLoginTimeout,
}

var networkReasons = map[ask.Verdict]string{
	probe.Unresolved:  vocabulary.ReasonEndpointNotReady,
	probe.Unreachable: vocabulary.ReasonConnectionFailed,
	probe.Broken:      vocabulary.ReasonHealthCheckFailed,
}

// aboutLogin reports whether a condition with the reason means that the API is healthy.
func aboutLogin(reason string) bool {
	return slices.Contains(slices.Collect(maps.Values(reasons)), reason)
}

func report(s *pass.Scope, result ask.Answer) reconcile.Outcome {
	switch result.Verdict {
	case ask.Accepted, proof.Uncached:
		return reconcile.Done(vocabulary.ReasonAPIHealthy, "")
	case ask.Unproven:
		return standing(s.Resource)
	case ask.Pending:
		return pending()
	case ask.Rejected:
		return reconcile.Terminal(keystonev1alpha1.ReasonAdminPasswordRefused, errors.New(result.Message))
	}
	verdict := blamed(s.Resource, result.Verdict)
	if reason, network := networkReasons[verdict]; network {
		return reconcile.Waiting(reason, result.Message)
	}
	return reconcile.Waiting(reasons[verdict], result.Message+remedy(s, verdict))
}

func pending() reconcile.Outcome {
	return reconcile.Waiting(keystonev1alpha1.ReasonLoginPending,
		"The administrator's login is not verified yet; that requires API pods and BootstrapReady")
}

// blamed attributes an error that Keystone does not explain to a component that is known
// to be failing.
func blamed(k *keystonev1alpha1.Keystone, verdict ask.Verdict) ask.Verdict {
	switch conditions := k.Status.Conditions; {
	case verdict != proof.Erred:
		return verdict
	case meta.IsStatusConditionFalse(conditions, keystonev1alpha1.ConditionFernetKeysReady):
		return proof.KeysFailed
	case meta.IsStatusConditionFalse(conditions, vocabulary.ConditionDatabaseReady):
		return proof.DatabaseFailed
	}
	return verdict
}

func remedy(s *pass.Scope, verdict ask.Verdict) string {
	k := s.Resource
	database := "the database at " + database.Address(s.Pass)
	cache := "the cache at " + strings.Join(k.Spec.Cache.Addresses(s.Cluster, k.Namespace), ", ")
	switch verdict {
	case proof.DatabaseFailed:
		return ", because it cannot use " + database + "; look there, and at the log of the API pods"
	case proof.CacheFailed:
		return ", because it cannot use " + cache + "; look there, and at the log of the API pods"
	case proof.KeysFailed:
		return ", because it cannot use the keys of Secret " + pass.FernetKeysName(k) + "; look there, and at the log of the API pods"
	case probe.TimedOut:
		return " to a login; look at " + database + ", at " + cache + " and at the load of the API pods"
	}
	return "; look at the log of the API pods"
}

// standing returns the last outcome about logins while nothing newer is known: a restart
// of the operator does not change it.
func standing(k *keystonev1alpha1.Keystone) reconcile.Outcome {
	last := meta.FindStatusCondition(k.Status.Conditions, keystonev1alpha1.ConditionKeystoneAPIReady)
	switch {
	case wasAccepted(k):
		return reconcile.Done(vocabulary.ReasonAPIHealthy, "")
	case last == nil || last.ObservedGeneration != k.Generation:
		return pending()
	case last.Reason == keystonev1alpha1.ReasonAdminPasswordRefused:
		return reconcile.Terminal(last.Reason, errors.New(last.Message))
	case aboutLogin(last.Reason):
		return reconcile.Waiting(last.Reason, last.Message)
	}
	return pending()
}

// wasAccepted reports whether the status says that the administrator can log in with what
// the last bootstrap has set.
func wasAccepted(k *keystonev1alpha1.Keystone) bool {
	return lastHealthy(k) != nil && meta.IsStatusConditionTrue(k.Status.Conditions, keystonev1alpha1.ConditionBootstrapReady)
}

// lastHealthy returns the condition about the API if it is True for the current spec, nil
// otherwise.
func lastHealthy(k *keystonev1alpha1.Keystone) *metav1.Condition {
	last := meta.FindStatusCondition(k.Status.Conditions, keystonev1alpha1.ConditionKeystoneAPIReady)
	if last == nil || last.ObservedGeneration != k.Generation || last.Status != metav1.ConditionTrue {
		return nil
	}
	return last
}
