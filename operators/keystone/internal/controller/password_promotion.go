package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/rotation"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

const (
	// leastPasswordLength is the minimum passwordLength that the API accepts.
	leastPasswordLength = 24
	// mostPasswordLength is Keystone's default of [identity] max_password_length.
	mostPasswordLength = 4096
)

func minPasswordLength(k *keystonev1alpha1.Keystone) int {
	return max(int(k.Spec.Bootstrap.PasswordRotation.PasswordLength), leastPasswordLength)
}

// promotion is the result of promoting a staged password.
type promotion struct {
	// committed is true in the pass that made the staged password the next one.
	committed bool
	// refusal is why the staged password cannot be used; it stays staged for inspection.
	refusal       error
	refusalReason string
	err           error
}

func (t promotion) outcome() reconcile.Outcome {
	if t.err != nil {
		return reconcile.WriteFailed(keystonev1alpha1.ReasonReconcileError, t.err)
	}
	return reconcile.Terminal(t.refusalReason, t.refusal)
}

// promotePassword makes a staged password the next one: the next password is written
// first, then the staging Secret is deleted. After a crash in between, the staged
// password is already the next one.
func promotePassword(ctx context.Context, s *scope) promotion {
	staging, err := s.Owned.Find(ctx, s.Key(stagedPasswordName(s.keystone)))
	if err != nil || staging == nil || !metav1.IsControlledBy(staging, s.keystone) {
		return promotion{err: err}
	}
	_, staged, err := rotation.CompletedAt(staging)
	switch {
	case err != nil:
		return promotion{refusal: err, refusalReason: keystonev1alpha1.ReasonAdminPasswordRotationAnnotationInvalid}
	case !staged:
		return promotion{}
	}
	if err := checkPassword(staging.Data, minPasswordLength(s.keystone)); err != nil {
		return promotion{refusalReason: keystonev1alpha1.ReasonAdminPasswordRotationRejected, refusal: fmt.Errorf(
			"the password staged in Secret %s cannot be used: %w; look at the log of the last Job of CronJob %s, delete the Secret "+
				"and start a Job of the CronJob; the password in use stays",
			staging.Name, err, passwordRotator(s.keystone).objectName(s.keystone))}
	}
	next, err := s.Owned.Find(ctx, s.Key(nextPasswordName(s.keystone)))
	if err != nil {
		return promotion{err: err}
	}
	taken := promotion{}
	if next == nil || !rotation.Applied(next, staging) {
		if taken.err = commitPassword(ctx, s, staging); taken.err != nil {
			return taken
		}
		taken.committed = true
	}
	taken.err = rotation.Discard(ctx, s.Client, staging)
	return taken
}

// commitPassword makes the staged password the next one in a single write.
func commitPassword(ctx context.Context, s *scope, staging *corev1.Secret) error {
	completed := staging.Annotations[rotation.CompletedAtAnnotation]
	desired := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: nextPasswordName(s.keystone), Namespace: s.keystone.Namespace, Labels: definition.Labels(s.keystone.Name),
			Annotations: map[string]string{rotation.CompletedAtAnnotation: completed},
		},
		Type: corev1.SecretTypeOpaque,
		Data: maps.Clone(staging.Data),
	}
	// A password is never restored from a backup: unlike a key Secret, a Secret without
	// the operator's labels has another owner.
	if err := s.Owned.RefuseOthers(ctx, s.keystone, desired); err != nil {
		return err
	}
	live, created, err := s.Owned.EnsureOnce(ctx, s.keystone, desired)
	if err != nil || created {
		return err
	}
	changed := live.DeepCopy()
	changed.Data = maps.Clone(staging.Data)
	metav1.SetMetaDataAnnotation(&changed.ObjectMeta, rotation.CompletedAtAnnotation, completed)
	// Two rotations within a second have the same time.
	delete(changed.Annotations, annotationDelivered)
	return apply.Update(ctx, s.Client, changed, apply.Updating)
}

// checkPassword accepts the passwords that a rotation Job generates. It rejects anything
// that could cause trouble in a container's environment, in Keystone or when typed at a
// login. The error reveals nothing about the password.
func checkPassword(data map[string][]byte, least int) error {
	password := data[commonv1.DatabasePasswordKey]
	switch {
	case len(password) == 0:
		return fmt.Errorf("there is no value under %s", commonv1.DatabasePasswordKey)
	case len(data) > 1:
		return fmt.Errorf("there are more keys than %s", commonv1.DatabasePasswordKey)
	case len(password) < least:
		return fmt.Errorf("it is shorter than %d characters", least)
	case len(password) > mostPasswordLength:
		return fmt.Errorf("it is longer than %d characters", mostPasswordLength)
	case !utf8.Valid(password) || strings.ContainsFunc(string(password), unprintable):
		return errors.New("it contains characters that are not printable")
	}
	return nil
}

func unprintable(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }
