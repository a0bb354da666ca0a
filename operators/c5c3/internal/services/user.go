package services

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/ask"
	"github.com/c5c3/forge/internal/common/reconcile"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// How the password of a service user is replaced. Keystone revokes all tokens of a user
// whose password changes, so pods with the old password would fail until they are
// replaced. A new password therefore comes with a new user whose name is derived from it.
// That makes the step repeatable in any pass and after any crash. The service keeps the
// old user until the new one is enrolled, and the old one is deleted some time after the
// service has switched. K-ORC could not change a password safely either: it adopts an
// existing user of the name without setting the password.

// keepUser ensures the user of a service, or takes the next step in replacing it. It
// returns the Secret that the service's resource is to refer to, "" until the first user
// is enrolled. The Secret of a user has the same name as its K-ORC object. Until the
// current user is enrolled, there is an error, too.
func keepUser(ctx context.Context, s *pass.Pass, svc Service) (login string, err error) {
	if !svc.hasUser {
		return "", nil
	}
	made, err := keepPassword(ctx, s, svc)
	if err != nil {
		return "", err
	}
	secret, err := loginSecret(s.CP, svc, made)
	if err != nil {
		return "", err
	}
	if err := s.Owned.EnsureData(ctx, s.CP, secret.DeepCopy()); err != nil {
		return "", err
	}
	used, err := loginInUse(ctx, s, svc)
	if err != nil {
		return "", err
	}
	user := userOf(s.CP, svc, secret)
	inUse := used == user.Name
	if err := enrolUser(ctx, s, svc, user, secret, inUse); err != nil {
		return used, err
	}
	if hasCredential(made) {
		err = keepCredential(ctx, s, svc, credentialOf(s.CP, svc, user, made), made, inUse)
	}
	if err != nil {
		return used, err
	}
	return user.Name, nil
}

// keepPassword returns the Secret with the password that the service is to have. On request, and
// when another login is due, it is replaced in a single write that also records the answer.
func keepPassword(ctx context.Context, s *pass.Pass, svc Service) (*corev1.Secret, error) {
	secret, _, err := s.Owned.EnsureOnce(ctx, s.CP, passwordSecret(s, svc))
	if err != nil {
		return nil, err
	}
	request := secret.Annotations[c5c3v1alpha1.AnnotationRotationRequest]
	answered := request == "" || request == secret.Annotations[c5c3v1alpha1.AnnotationRotationAnswered]
	if answered && len(secret.Data[keyPassword]) > 0 && !credentialIsDue(s, svc, secret) {
		return secret, nil
	}
	return renewPassword(ctx, s, svc, secret)
}

// renewPassword replaces the password only if it is the one that the pass has read.
func renewPassword(ctx context.Context, s *pass.Pass, svc Service, secret *corev1.Secret) (*corev1.Secret, error) {
	changed := secret.DeepCopy()
	generate(s, svc, changed)
	if request := secret.Annotations[c5c3v1alpha1.AnnotationRotationRequest]; request != "" {
		changed.Annotations[c5c3v1alpha1.AnnotationRotationAnswered] = request
	}
	return changed, apply.Update(ctx, s.Client, changed, "storing a new password in")
}

// loginInUse returns the control plane's Secret to which the service's resource refers,
// "" for none.
func loginInUse(ctx context.Context, s *pass.Pass, svc Service) (string, error) {
	live, err := apply.Find(ctx, s.ThirdParty, pass.Key(s, svc.childName(s.CP)), svc.Empty())
	if live == nil || err != nil {
		return "", err
	}
	user, has := commonv1.ServiceUserOf(live)
	if !has || !strings.HasPrefix(user.SecretRef.Name, s.CP.ServiceUserName(svc.name)+"-") {
		return "", nil
	}
	return user.SecretRef.Name, nil
}

// enrolUser has K-ORC create the user, and assigns its role in Keystone. inUse reports
// whether the service already uses the user.
func enrolUser(ctx context.Context, s *pass.Pass, svc Service, user *orcv1alpha1.User, login *corev1.Secret, inUse bool) error {
	if !pass.PasswordCloud.Value(s.Slots) {
		return reconcile.WaitError(c5c3v1alpha1.ReasonWaitingForServiceUser, "K-ORC cannot work on Keystone yet; KORCReady says why")
	}
	wait, err := korc.Ensure(ctx, s, user, pass.FailingSince(s, svc.condition))
	if err != nil {
		return err
	}
	project, role := bootstrapped(s, serviceProject), bootstrapped(s, serviceRole)
	switch {
	case !korc.StateOf(user).Available || user.Status.ID == nil || !user.DeletionTimestamp.IsZero():
		return reconcile.WaitError(c5c3v1alpha1.ReasonWaitingForServiceUser, "Waiting for "+korc.Describe(user)).After(wait)
	case !project.Ready || !role.Ready:
		return reconcile.WaitError(c5c3v1alpha1.ReasonWaitingForServiceUser, fmt.Sprintf(
			"Waiting for the project %s and the role %s; KORCReady says why", serviceProject.Name, serviceRole.Name))
	}
	return proveUser(ctx, s, svc, user, identity.ServiceUser{
		ID: *user.Status.ID, Password: string(login.Data[keyPassword]), ProjectID: project.ID, RoleID: role.ID,
	}, inUse)
}

// proveUser verifies the user with Keystone in the background.
func proveUser(
	ctx context.Context, s *pass.Pass, svc Service, object *orcv1alpha1.User, user identity.ServiceUser, inUse bool,
) error {
	enrol, at, admin := s.Enrol, controlplane.AuthURL(s.CP), pass.AdminPassword.Value(s.Slots)
	verdict, err := s.Proofs.Settled(s.NamespacedName, identity.Task{
		Subject: "user of " + svc.name, Key: identity.Digest(user.ID, user.Password), Password: admin, FirstWait: s.RetryPeriod,
		WasDone: inUse && meta.IsStatusConditionTrue(s.CP.Status.Conditions, svc.condition),
		Do:      func(ctx context.Context) (ask.Verdict, error) { return enrol(ctx, at, admin, user) },
	})
	login := proven{"the user " + userName(object), object.CreationTimestamp.Time, user.ID, user.Password}
	asking := fmt.Sprintf("Asking Keystone to assign the user %s its role", userName(object))
	return accepted(ctx, s, svc, login, verdict, err, asking, s.RetryPeriod)
}

// accepted returns an error unless Keystone has accepted the login. asking is what happens in the background, and retry
// is when to try again if that found nothing out.
func accepted(
	ctx context.Context, s *pass.Pass, svc Service, login proven, verdict ask.Verdict, err error, asking string, retry time.Duration,
) error {
	switch {
	case verdict == ask.Accepted:
		return nil
	case verdict == ask.Rejected:
		return replaceRefused(ctx, s, svc, login)
	case errors.Is(err, identity.ErrAsking):
		return reconcile.WaitError(c5c3v1alpha1.ReasonWaitingForServiceUser, asking).After(identity.Timeout)
	}
	return reconcile.WaitError(c5c3v1alpha1.ReasonServiceUserUnproven, fmt.Sprintf(
		"It is not known whether Keystone accepts %s: %v; %s", login.what, err, reach(s, err))).After(retry)
}

// proven is a login that Keystone is asked about, and when its object was created.
type proven struct {
	what       string
	created    time.Time
	id, secret string
}

// replaceRefused requests a new user if Keystone has rejected this one, or its application
// credential, for a while: someone may have changed it there.
func replaceRefused(ctx context.Context, s *pass.Pass, svc Service, login proven) error {
	if pass.IsRefused(s, svc.condition, login.created, login.id, login.secret) {
		secret, err := s.Owned.Find(ctx, pass.Key(s, s.CP.ServiceUserName(svc.name)))
		if err == nil && secret != nil {
			_, err = renewPassword(ctx, s, svc, secret)
		}
		if err != nil {
			return err
		}
	}
	s.Proofs.Announce(s.NamespacedName, login.id, login.secret)
	return reconcile.WaitError(c5c3v1alpha1.ReasonServiceUserRejected, fmt.Sprintf(
		"Keystone refuses %s; a new one is created", login.what)).After(s.RetryPeriod)
}

// retireUsers deletes the service's earlier users, each when it is due, and returns the
// requeue delay, zero to wait for a watch.
func retireUsers(ctx context.Context, s *pass.Pass, svc Service, current string) (time.Duration, error) {
	objects, err := usersOf(ctx, s, svc)
	if err != nil {
		return 0, err
	}
	var again time.Duration
	for _, old := range objects {
		if old.GetName() == current {
			continue
		}
		wait, err := retireUser(ctx, s, old, isOwner(old, objects))
		if err != nil {
			return 0, fmt.Errorf("removing %s: %w", korc.Describe(old), err)
		}
		again = reconcile.Sooner(again, wait)
	}
	return again, nil
}

// isOwner reports whether the object is a user whose application credential is one of the objects, too.
func isOwner(object korc.Object, objects []korc.Object) bool {
	if _, is := object.(*orcv1alpha1.User); !is {
		return false
	}
	return slices.ContainsFunc(objects, func(other korc.Object) bool {
		_, is := other.(*orcv1alpha1.ApplicationCredential)
		return is && other.GetName() == object.GetName()
	})
}

// retireUser deletes the user's Secrets first, because the object is what leads to them. An owner goes once its
// application credential is gone: K-ORC would not let go of a Secret that is deleted before that.
func retireUser(ctx context.Context, s *pass.Pass, old korc.Object, isOwner bool) (time.Duration, error) {
	if due, began := korc.ValidUntil(s, old); began && !due.After(s.Now()) {
		if isOwner {
			return 0, nil
		}
		names := []string{old.GetName()}
		if _, isUser := old.(*orcv1alpha1.User); isUser {
			names = append(names, ownerSecretName(old.GetName()))
		}
		for _, name := range names {
			login := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: old.GetNamespace()}}
			if err := apply.EnsureAbsent(ctx, s.Client, s.CP, login); err != nil {
				return 0, err
			}
		}
	}
	return korc.Revoke(ctx, s, old)
}

// dropUsers deletes all users of a deleted service, and the password for the next one.
func dropUsers(ctx context.Context, s *pass.Pass, svc Service) (time.Duration, error) {
	if !svc.hasUser || korc.MissingKind(s) != "" {
		return 0, nil
	}
	if err := apply.EnsureAbsent(ctx, s.Client, s.CP, passwordSecret(s, svc)); err != nil {
		return 0, err
	}
	return retireUsers(ctx, s, svc, "")
}
