package controller

import (
	"context"
	"fmt"
	"strings"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
)

// orcObject is an object of K-ORC.
type orcObject interface {
	client.Object
	orcv1alpha1.ObjectWithConditions
}

// korcKinds are the kinds a control plane needs.
var korcKinds = []string{"ApplicationCredential", "Domain", "User", "Service", "Endpoint", "Project", "Role"}

func korcKind(name string) schema.GroupVersionKind {
	return orcv1alpha1.SchemeGroupVersion.WithKind(name)
}

// missingKORCKind is the first of the kinds that the cluster does not serve, ""
// when it serves all.
func (s *scope) missingKORCKind() string {
	for _, kind := range korcKinds {
		if !s.kinds.Served(korcKind(kind)) {
			return kind
		}
	}
	return ""
}

// korcRemedy is what to do about an object that K-ORC has given up.
const korcRemedy = "correct what K-ORC reports there; it is retried with increasing delays"

// orcState is what K-ORC last said about an object.
type orcState struct {
	// available means that the resource is as the current spec asks.
	available bool
	// failed means that K-ORC does not try again.
	failed bool
	// since is when that became so.
	since time.Time
	// message is K-ORC's own explanation.
	message string
}

func stateOf(obj orcObject) orcState {
	available := meta.FindStatusCondition(obj.GetConditions(), orcv1alpha1.ConditionAvailable)
	state := orcState{
		available: available != nil && available.Status == metav1.ConditionTrue && available.ObservedGeneration == obj.GetGeneration(),
		failed:    orcv1alpha1.GetTerminalError(obj) != nil,
	}
	if progressing := meta.FindStatusCondition(obj.GetConditions(), orcv1alpha1.ConditionProgressing); progressing != nil {
		state.message, state.since = progressing.Message, progressing.LastTransitionTime.Time
	}
	return state
}

// describe names an object and quotes what K-ORC says about it.
func describe(obj orcObject) string {
	name := fmt.Sprintf("%s %s", kindName(obj), obj.GetName())
	switch message := strings.Join(strings.Fields(stateOf(obj).message), " "); {
	case !obj.GetDeletionTimestamp().IsZero() && message == "":
		return name + " (being deleted)"
	case message == "":
		return name + " (K-ORC has not looked at it yet)"
	default:
		return fmt.Sprintf("%s (%s)", name, message)
	}
}

func kindName(obj orcObject) string {
	name := fmt.Sprintf("%T", obj)
	return name[strings.LastIndex(name, ".")+1:]
}

// ensureORC applies the object and repairs what K-ORC has given up: an accident,
// such as a broken connection, counts as terminal there and is never tried
// again. The object is then made anew, less and less often while that does not
// help. It returns when to look again, zero for not before a watch fires.
func (s *scope) ensureORC(ctx context.Context, obj orcObject, failingSince time.Time) (time.Duration, error) {
	if err := apply.EnsureObject[client.Object](ctx, s.foreign, s.scheme, s.cp, obj, fieldManager); err != nil {
		return 0, err
	}
	state := stateOf(obj)
	if !state.failed || !obj.GetDeletionTimestamp().IsZero() {
		return 0, nil
	}
	wait := s.retryAfter(state.since, failingSince)
	if wait > 0 {
		return wait, nil
	}
	return s.retryPeriod, s.orphan(ctx, obj)
}

// retryAfter is how long an object that K-ORC gave up at the given time stays as
// it is: half the time for which the condition has been False, so that the
// attempts get rarer.
func (s *scope) retryAfter(gaveUp, failingSince time.Time) time.Duration {
	now := s.now()
	patience := min(max(now.Sub(failingSince)/2, s.retryPeriod), maxRetryPeriod)
	return max(gaveUp.Add(patience).Sub(now), 0)
}

// isRefused reports whether Keystone has refused a credential for a while that was
// created at a time, and about which a condition has a message while it does. It does not
// count before the condition says so, however late a pass is: otherwise nobody would
// learn why the credential was replaced.
func (s *scope) isRefused(conditionType, message string, created time.Time, id, secret string) bool {
	said := meta.FindStatusCondition(s.cp.Status.Conditions, conditionType)
	if said == nil || said.Message != message {
		return false
	}
	known, rejected := s.proofs.rejected(s.name(), id, secret)
	return rejected && known >= s.retryPeriod && s.retryAfter(created, said.LastTransitionTime.Time) == 0
}

const (
	defaultRetryPeriod = 30 * time.Second
	maxRetryPeriod     = 10 * time.Minute
)

// failingSince is when a condition became False, now unless it is.
func (s *scope) failingSince(conditionType string) time.Time {
	condition := meta.FindStatusCondition(s.cp.Status.Conditions, conditionType)
	if condition == nil || condition.Status != metav1.ConditionFalse {
		return s.now()
	}
	return condition.LastTransitionTime.Time
}

// orphan deletes the object and leaves the resource in OpenStack.
func (s *scope) orphan(ctx context.Context, obj orcObject) error {
	if !metav1.IsControlledBy(obj, s.cp) || !obj.GetDeletionTimestamp().IsZero() {
		return nil
	}
	switch err := s.detach(ctx, obj); {
	case apierrors.IsConflict(err):
		// K-ORC may have found what it had not: the next pass looks at the object anew.
		return nil
	case err != nil:
		return err
	}
	return s.remove(ctx, obj)
}

// detach tells K-ORC not to delete the resource in OpenStack. Imports know no
// such option, as their resource is never deleted.
func (s *scope) detach(ctx context.Context, obj orcObject) error {
	options := managedOptions(obj)
	if options == nil || (*options).GetOnDelete() == orcv1alpha1.OnDeleteDetach {
		return nil
	}
	before, ok := obj.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("the deep copy of %T is not a client.Object", obj)
	}
	*options = detached()
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := s.foreign.Patch(ctx, obj, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("detaching %s %s: %w", kindName(obj), obj.GetName(), err)
	}
	return nil
}

// managedOptions is where the object has them, nil for imports.
func managedOptions(obj orcObject) **orcv1alpha1.ManagedOptions {
	switch obj := obj.(type) {
	case *orcv1alpha1.ApplicationCredential:
		return &obj.Spec.ManagedOptions
	case *orcv1alpha1.Service:
		return &obj.Spec.ManagedOptions
	case *orcv1alpha1.Endpoint:
		return &obj.Spec.ManagedOptions
	case *orcv1alpha1.Project:
		return &obj.Spec.ManagedOptions
	case *orcv1alpha1.Role:
		return &obj.Spec.ManagedOptions
	case *orcv1alpha1.User:
		if isServiceUser(obj) {
			return &obj.Spec.ManagedOptions
		}
	}
	return nil
}

// remove deletes exactly the object that was looked at, in the state that was
// looked at: K-ORC may have found what it is for since.
func (s *scope) remove(ctx context.Context, obj client.Object) error {
	uid, version := obj.GetUID(), obj.GetResourceVersion()
	err := s.foreign.Delete(ctx, obj, client.Preconditions{UID: &uid, ResourceVersion: &version})
	if client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) {
		return fmt.Errorf("deleting %T %s: %w", obj, obj.GetName(), err)
	}
	return nil
}
