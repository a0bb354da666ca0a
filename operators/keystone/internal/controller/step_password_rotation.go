package controller

import (
	"context"
	"fmt"
	"strconv"

	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/reconcile"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// passwordRotate is the suffix of the CronJob and of the objects around it.
const passwordRotate = keystonev1alpha1.PasswordRotation

var passwordSchedule = schedule{
	name: passwordRotate, does: "making a new password of the administrator", failed: keystonev1alpha1.ReasonRotationFailed,
}

// keyTypeAdminPassword is the password's value of the label key_type.
const keyTypeAdminPassword = "admin-password"

// reconcilePasswordRotation replaces the administrator's password on a schedule. A
// CronJob stages a new one, and the operator validates it and keeps it as the next one.
// It reaches the Secret of the spec through External Secrets, or directly if nothing else
// writes that Secret. Bootstrap then sets it in Keystone, as after every change of that
// Secret.
func reconcilePasswordRotation(ctx context.Context, s *scope) reconcile.Outcome {
	k := s.keystone
	if !k.Spec.PasswordRotationEnabled() {
		if err := removePasswordRotation(ctx, s); err != nil {
			return reconcile.WriteFailed(keystonev1alpha1.ReasonReconcileError, err)
		}
		s.lifetimes.endRotation(client.ObjectKeyFromObject(k), keyTypeAdminPassword)
		return reconcile.Done(keystonev1alpha1.ReasonRotationDisabled, "spec.bootstrap.passwordRotation is not enabled")
	}
	if err := ensureRotation(ctx, s, passwordRotator(k)); err != nil {
		return reconcile.WriteFailed(keystonev1alpha1.ReasonReconcileError, err)
	}
	taken := promotePassword(ctx, s)
	outcome := taken.outcome()
	if taken.err == nil {
		outcome = deliverPassword(ctx, s)
	}
	if taken.refusal != nil && outcome.Err() == nil {
		outcome = taken.outcome()
	}
	if taken.committed {
		outcome = outcome.WithNormalEvent(keystonev1alpha1.EventAdminPasswordRotated,
			fmt.Sprintf("Accepted a new password of the administrator into Secret %s", nextPasswordName(k)))
	}
	return followSchedule(ctx, s, passwordSchedule, outcome)
}

func nextPasswordName(k *keystonev1alpha1.Keystone) string { return k.Name + "-admin-password-next" }

func stagedPasswordName(k *keystonev1alpha1.Keystone) string {
	return k.Name + "-admin-password-rotation"
}

func passwordPushName(k *keystonev1alpha1.Keystone) string { return k.Name + "-admin-password-backup" }

// passwordPath returns the path of the password in the store, relative to its mount.
func passwordPath(c cluster.Settings, k *keystonev1alpha1.Keystone) string {
	return keystonev1alpha1.AdminPasswordPath(c, k.Namespace, k.Name)
}

func passwordRotator(k *keystonev1alpha1.Keystone) rotator {
	spec := k.Spec.Bootstrap.PasswordRotation
	return rotator{
		name: passwordRotate, keyType: keyTypeAdminPassword, target: "admin-password",
		source: nextPasswordName(k), staging: stagedPasswordName(k),
		schedule: spec.Schedule, suspend: spec.Suspend,
		script: "admin_password_rotate.sh",
		env:    []corev1.EnvVar{{Name: "PASSWORD_LENGTH", Value: strconv.Itoa(minPasswordLength(k))}},
	}
}

// passwordPush writes the next password to the store. The value outlives the PushSecret
// because the Secret with which Keystone was bootstrapped is read from there. It is
// pushed once per rotation: repeated pushes would revert what others write there in the
// meantime.
func passwordPush(c cluster.Settings, k *keystonev1alpha1.Keystone, next *corev1.Secret) *esov1alpha1.PushSecret {
	return pushSecret(k, passwordPushName(k), next, esov1alpha1.PushSecretSpec{
		RefreshInterval: &metav1.Duration{},
		DeletionPolicy:  esov1alpha1.PushSecretDeletionPolicyNone,
		Data: pushTo(esov1alpha1.PushSecretMatch{
			SecretKey: commonv1.DatabasePasswordKey,
			RemoteRef: esov1alpha1.PushSecretRemoteRef{RemoteKey: passwordPath(c, k), Property: commonv1.DatabasePasswordKey},
		}),
	})
}

// removePasswordRotation deletes all objects of the rotation from the cluster. The
// password in use and its copy in the store are kept.
func removePasswordRotation(ctx context.Context, s *scope) error {
	k := s.keystone
	// The schedule is irrelevant for finding the objects to delete.
	gone := rotator{name: passwordRotate, source: nextPasswordName(k), staging: stagedPasswordName(k)}
	if err := removeRotation(ctx, s, gone); err != nil {
		return err
	}
	if s.Kinds.Served(pushSecretGVK) {
		push := &esov1alpha1.PushSecret{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: passwordPushName(k)}}
		if err := apply.EnsureAbsent(ctx, s.ThirdParty, k, push); err != nil {
			return err
		}
	}
	next := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: nextPasswordName(k)}}
	return apply.EnsureAbsent(ctx, s.Client, k, next)
}
