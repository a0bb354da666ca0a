package password

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
	"github.com/c5c3/forge/internal/common/rotation"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

// promote makes a staged password the next one, and reports whether it did that in this
// pass: the next password is written first, then the staging Secret is deleted. After a
// crash in between, the staged password is already the next one. The error is a
// refusalError if the staged password cannot be used; it stays staged for inspection.
func promote(ctx context.Context, s *pass.Scope) (promoted bool, err error) {
	staging, err := s.Owned.Find(ctx, s.Key(stagedName(s.Resource)))
	if err != nil || staging == nil || !metav1.IsControlledBy(staging, s.Resource) {
		return false, err
	}
	_, staged, err := rotation.CompletedAt(staging)
	switch {
	case err != nil:
		return false, &refusalError{keystonev1alpha1.ReasonAdminPasswordRotationAnnotationInvalid, err}
	case !staged:
		return false, nil
	}
	if err := checkPassword(staging.Data, minLength(s.Resource)); err != nil {
		return false, &refusalError{keystonev1alpha1.ReasonAdminPasswordRotationRejected, fmt.Errorf(
			"the password staged in Secret %s cannot be used: %w; look at the log of the last Job of CronJob %s, delete the Secret "+
				"and start a Job of the CronJob; the password in use stays",
			staging.Name, err, Rotator(s.Resource).ObjectName(s.Resource))}
	}
	next, err := s.Owned.Find(ctx, s.Key(NextName(s.Resource)))
	if err != nil {
		return false, err
	}
	if next == nil || !rotation.Applied(next, staging) {
		if err := commitPassword(ctx, s, staging); err != nil {
			return false, err
		}
		promoted = true
	}
	return promoted, rotation.Discard(ctx, s.Client, staging)
}

// commitPassword makes the staged password the next one in a single write.
func commitPassword(ctx context.Context, s *pass.Scope, staging *corev1.Secret) error {
	completed := staging.Annotations[rotation.CompletedAtAnnotation]
	desired := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: NextName(s.Resource), Namespace: s.Resource.Namespace, Labels: pass.Definition.Labels(s.Resource.Name),
			Annotations: map[string]string{rotation.CompletedAtAnnotation: completed},
		},
		Type: corev1.SecretTypeOpaque,
		Data: maps.Clone(staging.Data),
	}
	// A password is never restored from a backup: unlike a key Secret, a Secret without
	// the operator's labels has another owner.
	if err := s.Owned.RefuseOthers(ctx, s.Resource, desired); err != nil {
		return err
	}
	live, created, err := s.Owned.EnsureOnce(ctx, s.Resource, desired)
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
	password := data[commonv1.PasswordKey]
	switch {
	case len(password) == 0:
		return fmt.Errorf("there is no value under %s", commonv1.PasswordKey)
	case len(data) > 1:
		return fmt.Errorf("there are more keys than %s", commonv1.PasswordKey)
	case len(password) < least:
		return fmt.Errorf("it is shorter than %d characters", least)
	case len(password) > mostLength:
		return fmt.Errorf("it is longer than %d characters", mostLength)
	case !utf8.Valid(password) || strings.ContainsFunc(string(password), unprintable):
		return errors.New("it contains characters that are not printable")
	}
	return nil
}

func unprintable(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }
