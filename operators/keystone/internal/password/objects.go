package password

import (
	"context"
	"strconv"

	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/keysecret"
	"github.com/c5c3/forge/internal/common/secrets"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/cronjob"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

// rotationName is the suffix of the CronJob and of the objects around it.
const rotationName = keystonev1alpha1.PasswordRotation

// keyType is the password's value of the label key_type.
const keyType = "admin-password"

const (
	// annotationDelivered, on the next password, is the rotation that has reached the
	// administrator's Secret. If the Secret holds another password afterwards, a user has
	// changed it, and the change is not reverted.
	annotationDelivered = "forge.c5c3.io/rotation-delivered"
	// annotationPushedAt, on an ExternalSecret, makes External Secrets read the store
	// again, as any changed annotation does.
	annotationPushedAt = "forge.c5c3.io/pushed-at"
)

const (
	// leastLength is the minimum passwordLength that the API accepts.
	leastLength = 24
	// mostLength is Keystone's default of [identity] max_password_length.
	mostLength = 4096
)

func minLength(k *keystonev1alpha1.Keystone) int {
	return max(int(k.Spec.Bootstrap.PasswordRotation.PasswordLength), leastLength)
}

// NextName returns the name of the Secret with the next password.
func NextName(k *keystonev1alpha1.Keystone) string { return k.Name + "-admin-password-next" }

func stagedName(k *keystonev1alpha1.Keystone) string {
	return k.Name + "-admin-password-rotation"
}

func pushName(k *keystonev1alpha1.Keystone) string { return k.Name + "-admin-password-backup" }

// storePath returns the path of the password in the store, relative to its mount.
func storePath(c cluster.Settings, k *keystonev1alpha1.Keystone) string {
	return keystonev1alpha1.AdminPasswordPath(c, k.Namespace, k.Name)
}

// Rotator describes the CronJob that generates a new password, and the objects around it.
func Rotator(k *keystonev1alpha1.Keystone) cronjob.Rotator {
	spec := k.Spec.Bootstrap.PasswordRotation
	return cronjob.Rotator{
		Name: rotationName, KeyType: keyType, Target: "admin-password",
		Source: NextName(k), Staging: stagedName(k),
		Schedule: spec.Schedule, Suspend: spec.Suspend,
		Script: "admin_password_rotate.sh", Program: "admin_password.py",
		Env: []corev1.EnvVar{{Name: "PASSWORD_LENGTH", Value: strconv.Itoa(minLength(k))}},
	}
}

// configured returns the rotation with the configuration, in which its Jobs look up which
// passwords Keystone accepts.
func configured(s *pass.Scope) cronjob.Rotator {
	rotator := Rotator(s.Resource)
	rotator.Mounts = []deployment.Mount{deployment.ConfigMount(s.Pass)}
	return rotator
}

// newPush writes the next password to the store. The value outlives the PushSecret
// because the Secret with which Keystone was bootstrapped is read from there. It is
// pushed once per rotation: repeated pushes would revert what others write there in the
// meantime.
func newPush(s *pass.Scope, next *corev1.Secret) *esov1alpha1.PushSecret {
	return keysecret.NewPush(s.Pass, pushName(s.Resource), next, esov1alpha1.PushSecretDeletionPolicyNone, esov1alpha1.PushSecretMatch{
		SecretKey: commonv1.PasswordKey,
		RemoteRef: esov1alpha1.PushSecretRemoteRef{RemoteKey: storePath(s.Cluster, s.Resource), Property: commonv1.PasswordKey},
	})
}

// remove deletes all objects of the rotation from the cluster. The
// password in use and its copy in the store are kept.
func remove(ctx context.Context, s *pass.Scope) error {
	k := s.Resource
	// The schedule is irrelevant for finding the objects to delete.
	gone := cronjob.Rotator{Name: rotationName, Source: NextName(k), Staging: stagedName(k)}
	if err := gone.Remove(ctx, s); err != nil {
		return err
	}
	if s.Kinds.Served(secrets.PushSecretGVK) {
		push := &esov1alpha1.PushSecret{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: pushName(k)}}
		if err := apply.EnsureAbsent(ctx, s.ThirdParty, k, push); err != nil {
			return err
		}
	}
	next := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: NextName(k)}}
	return apply.EnsureAbsent(ctx, s.Client, k, next)
}
