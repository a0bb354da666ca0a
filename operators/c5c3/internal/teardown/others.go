package teardown

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// K-ORC needs the clouds.yaml and a Keystone to delete an object. The objects of users that
// use the Secrets of a control plane can never be deleted once it is gone, so its deletion
// waits for them for a limited time, before it takes anything away that they need.

// namedOthers limits how many objects a message names.
const namedOthers = 10

// awaitOthers is the error while K-ORC objects of others use the Secrets of the control
// plane and have time left. left describes those that are there, nil for none.
func awaitOthers(ctx context.Context, s *pass.Pass, keystoneGone bool) (left []string, err error) {
	if keystoneGone || korc.MissingKind(s) != "" {
		return nil, nil
	}
	left, err = objectsOfOthers(ctx, s)
	if err != nil {
		return nil, err
	}
	rest := s.CP.DeletionTimestamp.Add(s.StallTimeout).Sub(s.Now())
	if len(left) > 0 && rest > 0 {
		text := fmt.Sprintf("K-ORC objects of others use Secret %s: %s; delete them while there is a Keystone; "+
			"after %s the deletion continues, and then K-ORC cannot delete them any more",
			s.CP.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName, strings.Join(left, ", "), s.StallTimeout)
		return left, reconcile.WaitError(c5c3v1alpha1.ReasonORCObjectsInUse, text).
			OnTransition(corev1.EventTypeWarning, c5c3v1alpha1.EventORCObjectsInUse, text).After(rest)
	}
	return left, beginTeardown(ctx, s)
}

// beginTeardown records that the wait for others is over: K-ORC gets its own time for what
// belongs to the control plane.
func beginTeardown(ctx context.Context, s *pass.Pass) error {
	waited := slices.ContainsFunc(s.CP.Status.Conditions, func(condition metav1.Condition) bool {
		return condition.Type == c5c3v1alpha1.ConditionKORCReady && condition.Reason == c5c3v1alpha1.ReasonORCObjectsInUse
	})
	if !waited || s.CP.Annotations[c5c3v1alpha1.AnnotationTeardownSince] != "" {
		return nil
	}
	// The fields of the spec that the pass has completed are not written.
	changed := s.CP.DeepCopy()
	metav1.SetMetaDataAnnotation(&changed.ObjectMeta, c5c3v1alpha1.AnnotationTeardownSince, s.Now().UTC().Format(time.RFC3339))
	if err := apply.MergeUnlocked(ctx, s.Client, s.CP.DeepCopy(), changed, "recording the beginning of the teardown of"); err != nil {
		return client.IgnoreNotFound(err)
	}
	s.CP.Annotations, s.CP.ResourceVersion = changed.Annotations, changed.ResourceVersion
	return nil
}

// teardownSince returns when the control plane began to remove what belongs to it.
func teardownSince(s *pass.Pass) time.Time {
	if at, err := time.Parse(time.RFC3339, s.CP.Annotations[c5c3v1alpha1.AnnotationTeardownSince]); err == nil {
		return at
	}
	return s.CP.DeletionTimestamp.Time
}

// objectsOfOthers describes the K-ORC objects that use a Secret of the control plane and do
// not belong to it. Of kinds that the operator does not watch, it knows only whether K-ORC's
// finalizer on the Secret says that there were some.
func objectsOfOthers(ctx context.Context, s *pass.Pass) ([]string, error) {
	others, err := describeOthers(ctx, s)
	if err != nil {
		return nil, err
	}
	name := s.CP.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName
	secret, err := apply.Find(ctx, s.Refs, pass.Key(s, name), &corev1.Secret{})
	if err != nil || secret == nil {
		return others, err
	}
	return append(others, unwatched(secret.Finalizers)...), nil
}

func describeOthers(ctx context.Context, s *pass.Pass) ([]string, error) {
	used := []string{s.CP.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName, s.CP.PasswordCloudSecretName()}
	objects, err := korc.Objects(ctx, s)
	if err != nil {
		return nil, err
	}
	var others []string
	for _, obj := range objects {
		provider, ok := obj.(orcv1alpha1.CloudCredentialsRefProvider)
		if !ok || metav1.IsControlledBy(obj, s.CP) {
			continue
		}
		if _, ref := provider.GetCloudCredentialsRef(); ref != nil && slices.Contains(used, ref.SecretName) {
			others = append(others, korc.KindName(obj)+" "+obj.GetName())
		}
	}
	slices.Sort(others)
	if more := len(others) - namedOthers; more > 0 {
		others = append(others[:namedOthers], fmt.Sprintf("%d more", more))
	}
	return others, nil
}

// unwatched describes the objects of other kinds for which K-ORC has set its finalizer on a
// Secret. It keeps that until the Secret is deleted, so there may be none any more.
func unwatched(finalizers []string) []string {
	var others []string
	for _, finalizer := range finalizers {
		if kind, isKORC := strings.CutPrefix(finalizer, korcFinalizers); isKORC && !korc.Watches(kind) {
			others = append(others, "probably objects of kind "+kind)
		}
	}
	return others
}

// describeAbandoned is what the user has to do with objects that K-ORC cannot delete any
// more.
func describeAbandoned(s *pass.Pass, others []string) string {
	return fmt.Sprintf("K-ORC objects of others still use Secret %s, which goes now: %s; "+
		"delete them, and remove their finalizers of %s by hand",
		s.CP.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName, strings.Join(others, ", "), strings.TrimSuffix(korcFinalizers, "/"))
}
