package services

import (
	"context"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/reconcile"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// How the application credential of a service is replaced. A user has at most one, which lives
// as long as the user: a new credential comes with a new user, as a new password does. Its
// secret and its expiry are generated in the write that generates the password. Everything
// that makes the replacement of a user repeatable therefore holds for the credential, too.

// credentialLifetime is how long an application credential is valid.
func credentialLifetime(s *pass.Pass) time.Duration {
	return time.Duration(s.CP.Spec.ServiceUsers.CredentialDays) * s.Day
}

// hasCredential reports whether the user of a generated Secret logs in with an application
// credential.
func hasCredential(made *corev1.Secret) bool { return len(made.Data[keyCredential]) > 0 }

// credentialIsDue reports whether the user has to be replaced for its application credential:
// there is one and none is wanted, or the reverse, or it has used up two thirds of its time.
// That one is valid for longer than it should be may be due to a clock that was ahead.
func credentialIsDue(s *pass.Pass, svc Service, made *corev1.Secret) bool {
	wanted := svc.usesCredential(s.CP)
	if !wanted || !hasCredential(made) {
		return wanted || hasCredential(made)
	}
	expiry, err := time.Parse(time.RFC3339, made.Annotations[c5c3v1alpha1.AnnotationCredentialExpiry])
	remaining, lifetime := expiry.Sub(s.Now()), credentialLifetime(s)
	return err != nil || remaining < lifetime/3 || remaining > 2*lifetime
}

// ownerSecretName returns the name of the Secret with which K-ORC works as the user of a
// service, from that of the user's objects.
func ownerSecretName(user string) string { return user + "-owner" }

// credentialOf builds the K-ORC object of the user's application credential. All that it
// permits is what the middleware of the services needs. Its name in Keystone is that of the
// user, and so unique to the secret: K-ORC adopts an existing credential with the name.
func credentialOf(
	cp *c5c3v1alpha1.ControlPlane, svc Service, user *orcv1alpha1.User, made *corev1.Secret,
) *orcv1alpha1.ApplicationCredential {
	owner := ownerSecretName(user.Name)
	expiry, _ := time.Parse(time.RFC3339, made.Annotations[c5c3v1alpha1.AnnotationCredentialExpiry])
	return &orcv1alpha1.ApplicationCredential{
		ObjectMeta: userMeta(cp, svc, user.Name),
		Spec: orcv1alpha1.ApplicationCredentialSpec{
			CloudCredentialsRef: orcv1alpha1.CloudCredentialsReference{SecretName: owner, CloudName: clouds.ServiceUser},
			ManagementPolicy:    orcv1alpha1.ManagementPolicyManaged,
			Resource: &orcv1alpha1.ApplicationCredentialResourceSpec{
				Name: user.Spec.Resource.Name, UserRef: *korc.NameRef(user.Name), SecretRef: *korc.NameRef(owner),
				Unrestricted: ptr.To(false), ExpiresAt: ptr.To(metav1.NewTime(expiry)),
				AccessRules: []orcv1alpha1.ApplicationCredentialAccessRule{{
					ServiceRef: korc.NameRef(cp.IdentityServiceName()),
					Method:     ptr.To(orcv1alpha1.HTTPMethodGET), Path: ptr.To("/v3/auth/tokens"),
				}},
			},
		},
	}
}

// keepCredential has K-ORC create the application credential, and once Keystone accepts it,
// keeps the Secret with it for the service. inUse reports whether the service already uses it.
func keepCredential(
	ctx context.Context, s *pass.Pass, svc Service, credential *orcv1alpha1.ApplicationCredential, made *corev1.Secret, inUse bool,
) error {
	wait, err := korc.Ensure(ctx, s, credential, pass.FailingSince(s, svc.condition))
	if err != nil {
		return err
	}
	if !korc.StateOf(credential).Available || credential.Status.ID == nil || !credential.DeletionTimestamp.IsZero() {
		return reconcile.WaitError(c5c3v1alpha1.ReasonWaitingForServiceUser, "Waiting for "+korc.Describe(credential)).After(wait)
	}
	id, secret := *credential.Status.ID, string(made.Data[keyCredential])
	if err := proveCredential(ctx, s, svc, credential, identity.Credential{ID: id, Secret: secret}, inUse); err != nil {
		return err
	}
	login := &corev1.Secret{ObjectMeta: userMeta(s.CP, svc, credential.Name), Data: map[string][]byte{
		commonv1.CredentialIDKey: []byte(id), commonv1.CredentialSecretKey: []byte(secret),
	}}
	return s.Owned.EnsureData(ctx, s.CP, login)
}

// proveCredential verifies the application credential with a login in the background: K-ORC
// reports a credential as available even if it has another secret.
func proveCredential(
	ctx context.Context, s *pass.Pass, svc Service, object *orcv1alpha1.ApplicationCredential, login identity.Credential, inUse bool,
) error {
	what := "the application credential of the user " + string(*object.Spec.Resource.Name)
	wasAccepted := inUse && meta.IsStatusConditionTrue(s.CP.Status.Conditions, svc.condition)
	verdict, err := s.Proofs.Verdict(s.NamespacedName, controlplane.AuthURL(s.CP), login.ID, login.Secret, wasAccepted)
	return accepted(ctx, s, svc, proven{what, object.CreationTimestamp.Time, login.ID, login.Secret}, verdict, err,
		"Checking whether Keystone accepts "+what, s.Proofs.Pause())
}
