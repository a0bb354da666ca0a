package services

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/ask"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

// restricted is a staff whose users log in with application credentials.
type restricted struct {
	*staff
	// verdict is Keystone's answer to every login with an application credential.
	verdict ask.Verdict
	loginOf []string
}

func newRestricted(t *testing.T) *restricted {
	t.Helper()
	r := &restricted{staff: newStaff(t), verdict: ask.Accepted}
	r.Day, r.SpreadTime = fixture.Day, fixture.SpreadTime
	r.Proofs = identity.NewProofs(func(_ context.Context, _, id, _ string) (ask.Verdict, error) {
		r.loginOf = append(r.loginOf, id)
		return r.verdict, nil
	}, r.Now, identity.ProofPeriod, identity.LoginPeriod)
	r.authenticate(t, c5c3v1alpha1.AuthenticationApplicationCredential)
	return r
}

// authenticate changes what the services log in with.
func (r *restricted) authenticate(t *testing.T, with c5c3v1alpha1.ServiceUserAuthentication) {
	t.Helper()
	cp := fixture.Minimal()
	r.get(t, cp, cp.Name)
	cp.Spec.ServiceUsers.Authentication = with
	cp.Generation++
	r.update(t, cp)
}

// secrets returns the names of all Secrets.
func (r *restricted) secrets(t *testing.T) []string {
	t.Helper()
	var list corev1.SecretList
	if err := r.Client.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	names := make([]string, 0, len(list.Items))
	for _, secret := range list.Items {
		names = append(names, secret.Name)
	}
	return names
}

func TestAServiceGetsAnApplicationCredentialThatKeystoneAccepts(t *testing.T) {
	r := newRestricted(t)
	r.settle(t)
	login := r.login(t, r.sundial(t))
	credential := r.credentials(t)[0]
	if string(login.Data["application_credential_id"]) != *credential.Status.ID || len(login.Data) != 2 {
		t.Errorf("the service has a Secret with %d values, and the ID %s", len(login.Data), login.Data["application_credential_id"])
	}
	owner := &corev1.Secret{}
	r.get(t, owner, string(credential.Spec.Resource.SecretRef))
	if got := string(login.Data["application_credential_secret"]); got == "" || got != string(owner.Data["value"]) {
		t.Error("the service has another secret than K-ORC")
	}
	if !slices.Contains(r.loginOf, *credential.Status.ID) {
		t.Error("the credential was not verified")
	}
	spec := credential.Spec.Resource
	if *spec.Unrestricted || len(spec.AccessRules) != 1 || !spec.ExpiresAt.Equal(ptr.To(metav1.NewTime(fixture.Noon.Add(30*fixture.Day)))) {
		t.Errorf("the credential is %+v", spec)
	}
	expectCondition(t, r.settle(t), "SundialReady", metav1.ConditionTrue, "SundialReady", "Sundial controlplane-sundial is ready")
}

func TestAnApplicationCredentialIsReplacedWithItsUserBeforeItExpires(t *testing.T) {
	r := newRestricted(t)
	r.settle(t)
	old := r.sundial(t).Login.Name
	r.at = r.at.Add(20 * fixture.Day)
	r.settle(t)
	if now := r.sundial(t).Login.Name; now != old {
		t.Errorf("it was replaced by %s after two thirds of its time", now)
	}
	r.at = r.at.Add(time.Second)
	r.answer, r.err = ask.Unproven, errors.New("away")
	r.settle(t)
	if now := r.sundial(t).Login.Name; now != old || len(r.users(t)) != 2 {
		t.Errorf("the service has %s of %d users before that is enrolled", now, len(r.users(t)))
	}
	r.answer, r.err, r.at = ask.Accepted, nil, r.at.Add(time.Hour)
	r.settle(t)
	fresh := r.sundial(t).Login.Name
	if fresh == old || len(r.credentials(t)) != 2 || len(r.deleted) > 0 {
		t.Errorf("the service has %s, there are %d credentials, and %v were deleted", fresh, len(r.credentials(t)), r.deleted)
	}
	r.settle(t)
	r.at = r.at.Add(fixture.SpreadTime)
	r.settle(t)
	if left := r.credentials(t); len(left) != 1 || left[0].Name != fresh || !slices.Equal(r.deleted, []string{"id-of-" + old}) {
		t.Errorf("%d credentials are left, and %v were deleted", len(left), r.deleted)
	}
	want := []string{"controlplane-sundial-service-user", fresh, fresh + "-owner"}
	if got := r.secrets(t); !slices.Equal(got, want) {
		t.Errorf("the Secrets are %v, want %v", got, want)
	}
}

func TestTheSecretOfAnOwnerStaysUntilItsApplicationCredentialIsGone(t *testing.T) {
	r := newRestricted(t)
	r.settle(t)
	old := r.credentials(t)[0]
	old.Finalizers = append(old.Finalizers, "openstack.k-orc.cloud/applicationcredential")
	r.update(t, &old)
	r.authenticate(t, c5c3v1alpha1.AuthenticationPassword)
	r.settle(t)
	r.sundial(t)
	r.settle(t)
	r.at = r.at.Add(fixture.SpreadTime)
	r.settle(t)
	r.get(t, &old, old.Name)
	if left := r.secrets(t); old.DeletionTimestamp.IsZero() || !slices.Contains(left, old.Name+"-owner") || len(r.users(t)) != 2 {
		t.Fatalf("with the credential there are %d users and the Secrets %v", len(r.users(t)), left)
	}
	old.Finalizers = nil
	r.update(t, &old)
	r.settle(t)
	if left := r.secrets(t); slices.Contains(left, old.Name+"-owner") || len(r.users(t)) != 1 {
		t.Errorf("without it there are %d users and the Secrets %v", len(r.users(t)), left)
	}
}

func TestAnotherAuthenticationReplacesTheUser(t *testing.T) {
	r := newRestricted(t)
	r.settle(t)
	byCredential := r.sundial(t).Login.Name
	r.authenticate(t, c5c3v1alpha1.AuthenticationPassword)
	r.settle(t)
	login := r.login(t, r.sundial(t))
	if login.Name == byCredential || len(login.Data["password"]) == 0 {
		t.Errorf("the service has %s without a password", login.Name)
	}
	r.settle(t)
	r.at = r.at.Add(fixture.SpreadTime)
	r.settle(t)
	if len(r.credentials(t)) > 0 || len(r.users(t)) != 1 {
		t.Errorf("%d credentials and %d users are left", len(r.credentials(t)), len(r.users(t)))
	}
}

func TestARejectedApplicationCredentialIsReplaced(t *testing.T) {
	r := newRestricted(t)
	r.replacesRejected(t, &r.verdict, "the application credential of the user ")
}

func TestAServiceThatUsesTrustsKeepsItsPassword(t *testing.T) {
	cp := fixture.Complete()
	cp.Spec.ServiceUsers.Authentication = c5c3v1alpha1.AuthenticationApplicationCredential
	for _, svc := range All {
		if got, want := svc.usesCredential(cp), svc.hasUser && svc.name != "glance"; got != want {
			t.Errorf("%s logs in with an application credential: %t, want %t", svc.name, got, want)
		}
	}
}
