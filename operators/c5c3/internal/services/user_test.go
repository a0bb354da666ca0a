package services

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/ask"
	"github.com/c5c3/forge/internal/common/secrets"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

// staff is a plant whose invented service has a user, with a simulated Keystone.
type staff struct {
	*plant
	at time.Time
	// answer is Keystone's answer to every enrolment.
	answer ask.Verdict
	err    error
	// enrolled are the users that Keystone was asked about, deleted those that were
	// deleted.
	enrolled []identity.ServiceUser
	deleted  []string
}

func newStaff(t *testing.T) *staff {
	t.Helper()
	p := newPlantOf(t, withSundial(), List{Keystone, withUser(sundialService())})
	s := &staff{plant: p, at: fixture.Noon, answer: ask.Accepted}
	p.Clock, p.SpreadTime = func() time.Time { return s.at }, fixture.SpreadTime
	p.APIReader = p.Client
	p.Owned = secrets.Owned{Client: p.Client, APIReader: p.Client, Scheme: p.Scheme}
	p.Enrol = func(_ context.Context, _, _ string, user identity.ServiceUser) (ask.Verdict, error) {
		s.enrolled = append(s.enrolled, user)
		return s.answer, s.err
	}
	p.DeleteUser = func(_ context.Context, _, _, id string) error {
		s.deleted = append(s.deleted, id)
		return nil
	}
	return s
}

// settle simulates the other operators and Keystone until nothing changes any more, and
// returns the control plane.
func (s *staff) settle(t *testing.T) *c5c3v1alpha1.ControlPlane {
	t.Helper()
	var cp *c5c3v1alpha1.ControlPlane
	for range 6 {
		cp = s.pass(t)
		s.keystoneIsReady(t)
		s.korcIsDone(t)
		fixture.Answer(t.Context(), s.Proofs.Ledger)
	}
	return cp
}

// korcIsDone simulates K-ORC.
func (s *staff) korcIsDone(t *testing.T) {
	t.Helper()
	available := []metav1.Condition{{Type: orcv1alpha1.ConditionAvailable, Status: metav1.ConditionTrue}}
	for _, user := range s.users(t) {
		user.Status.ID, user.Status.Conditions = ptr.To("id-of-"+user.Name), available
		s.update(t, &user)
	}
	for _, credential := range s.credentials(t) {
		credential.Status.ID, credential.Status.Conditions = ptr.To("id-of-credential-"+credential.Name), available
		s.update(t, &credential)
	}
	var projects orcv1alpha1.ProjectList
	var roles orcv1alpha1.RoleList
	for _, list := range []client.ObjectList{&projects, &roles} {
		if err := s.Client.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
	for _, project := range projects.Items {
		project.Status.ID, project.Status.Conditions = ptr.To("the-project"), available
		s.update(t, &project)
	}
	for _, role := range roles.Items {
		role.Status.ID, role.Status.Conditions = ptr.To("the-role"), available
		s.update(t, &role)
	}
}

func (s *staff) users(t *testing.T) []orcv1alpha1.User {
	t.Helper()
	var list orcv1alpha1.UserList
	if err := s.Client.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func (s *staff) credentials(t *testing.T) []orcv1alpha1.ApplicationCredential {
	t.Helper()
	var list orcv1alpha1.ApplicationCredentialList
	if err := s.Client.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// sundial returns the service's resource after its operator has made it ready.
func (s *staff) sundial(t *testing.T) *sundial {
	t.Helper()
	s.sundialIs(t, "2025.2", "", metav1.ConditionTrue)
	child := &sundial{}
	s.get(t, child, sundialName)
	return child
}

// login returns the Secret that the resource refers to.
func (s *staff) login(t *testing.T, child *sundial) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{}
	s.get(t, secret, child.Login.Name)
	return secret
}

// requestPassword requests a new password of the service's user.
func (s *staff) requestPassword(t *testing.T, request string) {
	t.Helper()
	secret := &corev1.Secret{}
	s.get(t, secret, "controlplane-sundial-service-user")
	metav1.SetMetaDataAnnotation(&secret.ObjectMeta, c5c3v1alpha1.AnnotationRotationRequest, request)
	s.update(t, secret)
}

func TestAServiceGetsAUserThatKeystoneAccepts(t *testing.T) {
	s := newStaff(t)
	s.answer, s.err = ask.Unproven, errors.New("no route to host")
	cp := s.settle(t)
	expectCondition(t, cp, "SundialReady", metav1.ConditionFalse, "ServiceUserUnproven", "It is not known whether Keystone accepts the user "+
		userName(&s.users(t)[0])+": no route to host; let the operator reach http://controlplane-keystone.openstack.svc:5000/v3")
	s.answer, s.err, s.at = ask.Accepted, nil, s.at.Add(s.RetryPeriod)
	s.settle(t)
	secret := s.login(t, s.sundial(t))
	cp = s.settle(t)
	expectCondition(t, cp, "SundialReady", metav1.ConditionTrue, "SundialReady", "Sundial controlplane-sundial is ready")
	user := s.users(t)[0]
	want := identity.ServiceUser{
		ID: "id-of-" + user.Name, Password: string(secret.Data["password"]), ProjectID: "the-project", RoleID: "the-role",
	}
	if got := s.enrolled[len(s.enrolled)-1]; got != want {
		t.Errorf("Keystone was asked about %+v, want %+v", got, want)
	}
	if name := string(*user.Spec.Resource.Name); name != string(secret.Data["username"]) || !strings.HasPrefix(name, "sundial-") {
		t.Errorf("the user is named %s", name)
	}
}

func TestAServiceGetsItsIdentitySettingsAndServiceUser(t *testing.T) {
	s := newStaff(t)
	cp := s.settle(t)
	child := s.sundial(t)
	want := commonv1.IdentitySpec{AuthURL: controlplane.AuthURL(cp), Region: cp.Spec.Region, Project: "service"}
	if child.Identity != want || child.Login.Key != "password" || !strings.HasPrefix(child.Login.Name, "controlplane-sundial-service-user-") {
		t.Errorf("got %+v and %+v, want %+v", child.Identity, child.Login, want)
	}
}

func TestServicesWithAUserReferenceDeclareAServiceUser(t *testing.T) {
	for _, svc := range All {
		if _, has := commonv1.ServiceUserOf(svc.Empty()); has != svc.hasUser {
			t.Errorf("%s declares a user: %t, its resource refers to one: %t", svc.name, svc.hasUser, has)
		}
	}
}

func TestAnAcceptedServiceUserIsCheckedAgainOnlyAfterAPeriod(t *testing.T) {
	s := newStaff(t)
	s.settle(t)
	if len(s.enrolled) != 1 {
		t.Errorf("Keystone was asked %d times", len(s.enrolled))
	}
	s.at = s.at.Add(identity.ProofPeriod)
	s.settle(t)
	if len(s.enrolled) != 2 {
		t.Errorf("Keystone was asked %d times", len(s.enrolled))
	}
}

func TestAPasswordRotationEnrolsANewUserBeforeTheSwitch(t *testing.T) {
	s := newStaff(t)
	s.settle(t)
	old := s.sundial(t)
	s.requestPassword(t, "now")
	s.answer, s.err = ask.Unproven, errors.New("away")
	s.settle(t)
	if now := s.sundial(t); now.Login.Name != old.Login.Name || len(s.users(t)) != 2 {
		t.Errorf("the service has %s of %d users before that is enrolled", now.Login.Name, len(s.users(t)))
	}
	s.answer, s.err, s.at = ask.Accepted, nil, s.at.Add(s.RetryPeriod)
	s.settle(t)
	fresh := s.sundial(t)
	if fresh.Login.Name == old.Login.Name || string(s.login(t, fresh).Data["password"]) == string(s.login(t, old).Data["password"]) {
		t.Errorf("the service has %s as before", fresh.Login.Name)
	}
	s.settle(t)
	if len(s.deleted) > 0 || len(s.users(t)) != 2 {
		t.Errorf("%v were deleted while pods may have them", s.deleted)
	}
	s.at = s.at.Add(fixture.SpreadTime)
	s.settle(t)
	if !slices.Equal(s.deleted, []string{"id-of-" + old.Login.Name}) || len(s.users(t)) != 1 {
		t.Errorf("%v were deleted, and %d are left", s.deleted, len(s.users(t)))
	}
	key := client.ObjectKey{Namespace: "openstack", Name: old.Login.Name}
	if err := s.Client.Get(t.Context(), key, &corev1.Secret{}); !apierrors.IsNotFound(err) {
		t.Errorf("the Secret of the old user: %v", err)
	}
}

func TestAPasswordRequestIsHandledOnce(t *testing.T) {
	s := newStaff(t)
	s.settle(t)
	s.requestPassword(t, "now")
	s.settle(t)
	first := s.sundial(t).Login.Name
	s.settle(t)
	if got := s.sundial(t).Login.Name; got != first {
		t.Errorf("the service has %s, and had %s", got, first)
	}
	s.requestPassword(t, "again")
	s.settle(t)
	if got := s.sundial(t).Login.Name; got == first {
		t.Error("the second request was not answered")
	}
}

func TestARejectedServiceUserIsReplaced(t *testing.T) {
	s := newStaff(t)
	s.replacesRejected(t, &s.answer, "the user ")
}

// replacesRejected fails the test unless a user is replaced after a rejection by Keystone, whose answer is at
// verdict. what goes before the name of the user in the condition.
func (s *staff) replacesRejected(t *testing.T, verdict *ask.Verdict, what string) {
	t.Helper()
	*verdict = ask.Rejected
	cp := s.settle(t)
	refused := s.users(t)[0]
	expectCondition(t, cp, "SundialReady", metav1.ConditionFalse, "ServiceUserRejected",
		"Keystone refuses "+what+userName(&refused)+"; a new one is created")
	*verdict, s.at = ask.Accepted, s.at.Add(time.Hour)
	s.pass(t)
	s.settle(t)
	if child := s.sundial(t); child.Login.Name == refused.Name {
		t.Errorf("the service has %s still", child.Login.Name)
	}
}

func TestTheServiceUserIsDeletedWithItsService(t *testing.T) {
	s := newStaff(t)
	s.settle(t)
	s.sundial(t)
	cp := s.settle(t)
	cp.Annotations = map[string]string{"example.com/allow-sundial-deletion": "true"}
	s.update(t, cp)
	s.settle(t)
	s.at = s.at.Add(fixture.SpreadTime)
	s.settle(t)
	if users := s.users(t); len(users) > 0 || len(s.deleted) != 1 {
		t.Errorf("%d users are left, and %v were deleted", len(users), s.deleted)
	}
	var left corev1.SecretList
	if err := s.Client.List(t.Context(), &left); err != nil || len(left.Items) > 0 {
		t.Errorf("%d Secrets are left (%v)", len(left.Items), err)
	}
}

func TestARefusedAdminPasswordIsReportedAndRetriedOnceCorrected(t *testing.T) {
	s := newStaff(t)
	s.answer, s.err = ask.Unproven, identity.ErrPassword
	cp := s.settle(t)
	if len(s.enrolled) != 1 {
		t.Errorf("it was tried %d times at once", len(s.enrolled))
	}
	expectCondition(t, cp, "SundialReady", metav1.ConditionFalse, "ServiceUserUnproven", "It is not known whether Keystone accepts the user "+
		userName(&s.users(t)[0])+": Keystone refuses the administrator's password; correct the administrator's password in Secret "+
		"controlplane-keystone-admin-credentials, or set the one in Keystone to it")
	s.password, s.stored, s.answer, s.err = "new", "new", ask.Accepted, nil
	s.settle(t)
	if len(s.enrolled) != 2 {
		t.Errorf("with another password it was tried %d times", len(s.enrolled))
	}
}
