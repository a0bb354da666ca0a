package services

import (
	"context"
	"fmt"
	"slices"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// Keys of the users' Secrets. K-ORC reads the password from keyPassword.
const (
	KeyUsername = "username"
	keyPassword = "password"
)

// LabelServiceUser has the name of the service, on the K-ORC objects and Secrets of its users.
const LabelServiceUser = "c5c3.io/service-user"

// Service users have this role in this project, with which Keystone allows them to
// validate other users' tokens. See
// https://docs.openstack.org/keystone/latest/admin/service-api-protection.html.
var (
	serviceProject = c5c3v1alpha1.BootstrapResourceSpec{Kind: c5c3v1alpha1.BootstrapKindProject, Name: "service"}
	serviceRole    = c5c3v1alpha1.BootstrapResourceSpec{Kind: c5c3v1alpha1.BootstrapKindRole, Name: "service"}
)

// bootstrapResources returns those of the spec and those that service users need.
func (all List) bootstrapResources(cp *c5c3v1alpha1.ControlPlane) []c5c3v1alpha1.BootstrapResourceSpec {
	resources := slices.Clone(cp.Spec.KORC.AdminCredential.BootstrapResources)
	if !slices.ContainsFunc(all.wantedBy(cp), func(svc Service) bool { return svc.hasUser }) {
		return resources
	}
	for _, needed := range []c5c3v1alpha1.BootstrapResourceSpec{serviceProject, serviceRole} {
		if !slices.Contains(resources, needed) {
			resources = append(resources, needed)
		}
	}
	return resources
}

// bootstrapped returns the status of a bootstrap resource.
func bootstrapped(s *pass.Pass, resource c5c3v1alpha1.BootstrapResourceSpec) c5c3v1alpha1.BootstrapResourceStatus {
	for _, status := range s.CP.Status.BootstrapResources {
		if status.Kind == resource.Kind && status.Name == resource.Name {
			return status
		}
	}
	return c5c3v1alpha1.BootstrapResourceStatus{}
}

// desired builds the resource of the service, and tells it where Keystone is and which
// user it has there.
func (svc Service) desired(cp *c5c3v1alpha1.ControlPlane, with given) (child, error) {
	built, err := svc.child(cp, with)
	if err != nil || !svc.hasUser {
		return built, err
	}
	if user, has := commonv1.ServiceUserOf(built); has {
		*user.Identity = commonv1.IdentitySpec{AuthURL: controlplane.AuthURL(cp), Region: cp.Spec.Region, Project: serviceProject.Name}
		*user.SecretRef = commonv1.SecretRefSpec{Name: with.login, Key: keyPassword}
	}
	return built, nil
}

// passwordSecret builds the Secret with the password that the service's user is to have.
func passwordSecret(cp *c5c3v1alpha1.ControlPlane, svc Service) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: controlplane.ChildMeta(cp, cp.ServiceUserName(svc.name)),
		Data:       map[string][]byte{keyPassword: identity.NewSecret()},
	}
}

// loginSecret builds the Secret with the name and password of a user. Both the service
// and K-ORC read it.
func loginSecret(cp *c5c3v1alpha1.ControlPlane, svc Service, password string) *corev1.Secret {
	id := controlplane.ShortHash(password)
	meta := controlplane.ChildMeta(cp, fmt.Sprintf("%s-%s", cp.ServiceUserName(svc.name), id))
	meta.Labels[LabelServiceUser] = svc.name
	return &corev1.Secret{
		ObjectMeta: meta,
		Data: map[string][]byte{
			KeyUsername: []byte(svc.name + "-" + id), keyPassword: []byte(password),
		},
	}
}

// userOf builds the K-ORC object of the user with the login.
func userOf(cp *c5c3v1alpha1.ControlPlane, svc Service, login *corev1.Secret) *orcv1alpha1.User {
	meta := controlplane.ChildMeta(cp, login.Name)
	meta.Labels[LabelServiceUser] = svc.name
	return &orcv1alpha1.User{
		ObjectMeta: meta,
		Spec: orcv1alpha1.UserSpec{
			CloudCredentialsRef: korc.AdminSystemCloud(cp), ManagementPolicy: orcv1alpha1.ManagementPolicyManaged,
			Resource: &orcv1alpha1.UserResourceSpec{
				Name:      ptr.To(orcv1alpha1.OpenStackName(login.Data[KeyUsername])),
				DomainRef: korc.NameRef(cp.DomainImportName()), PasswordRef: korc.NameRef(login.Name),
			},
		},
	}
}

// userName returns the name of a user in Keystone.
func userName(user *orcv1alpha1.User) string { return string(ptr.Deref(user.Spec.Resource.Name, "")) }

// usersOf returns the objects of the service's current and earlier users.
func usersOf(ctx context.Context, s *pass.Pass, svc Service) ([]korc.Object, error) {
	return listUsers(ctx, s, client.MatchingLabels{LabelServiceUser: svc.name})
}

// Users are those of all services.
func Users(ctx context.Context, s *pass.Pass) ([]korc.Object, error) {
	return listUsers(ctx, s, client.HasLabels{LabelServiceUser})
}

func listUsers(ctx context.Context, s *pass.Pass, having client.ListOption) ([]korc.Object, error) {
	found, err := korc.Own[korc.Object](ctx, s, having, &orcv1alpha1.UserList{})
	if err != nil {
		return nil, fmt.Errorf("listing the users of services: %w", err)
	}
	return found, nil
}
