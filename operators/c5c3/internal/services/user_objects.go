package services

import (
	"context"
	"fmt"
	"slices"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// Keys of the users' Secrets. K-ORC reads the password from keyPassword, and the secret of an
// application credential from keyCredential.
const (
	KeyUsername   = "username"
	keyPassword   = "password"
	keyCredential = "value"
)

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

// usesCredential reports whether the service is to log in with an application credential.
func (svc Service) usesCredential(cp *c5c3v1alpha1.ControlPlane) bool {
	return svc.hasUser && !svc.usesTrusts && cp.Spec.ServiceUsers.Authentication == c5c3v1alpha1.AuthenticationApplicationCredential
}

// passwordSecret builds the Secret with the password that the service's user is to have.
func passwordSecret(s *pass.Pass, svc Service) *corev1.Secret {
	secret := &corev1.Secret{ObjectMeta: controlplane.ChildMeta(s.CP, s.CP.ServiceUserName(svc.name))}
	generate(s, svc, secret)
	return secret
}

// generate puts the password of a new user into the Secret and, if the service logs in with an
// application credential, the secret and the expiry of that.
func generate(s *pass.Pass, svc Service, secret *corev1.Secret) {
	secret.Data = map[string][]byte{keyPassword: identity.NewSecret()}
	delete(secret.Annotations, c5c3v1alpha1.AnnotationCredentialExpiry)
	if svc.usesCredential(s.CP) {
		secret.Data[keyCredential] = identity.NewSecret()
		expiry := s.Now().Add(credentialLifetime(s)).UTC().Format(time.RFC3339)
		metav1.SetMetaDataAnnotation(&secret.ObjectMeta, c5c3v1alpha1.AnnotationCredentialExpiry, expiry)
	}
}

// userObjectName returns the name of the K-ORC objects of the user with the password, and of
// the Secret that the service's resource refers to.
func userObjectName(cp *c5c3v1alpha1.ControlPlane, svc Service, password []byte) string {
	return fmt.Sprintf("%s-%s", cp.ServiceUserName(svc.name), controlplane.ShortHash(string(password)))
}

// userMeta returns the metadata of an object that belongs to a user of the service.
func userMeta(cp *c5c3v1alpha1.ControlPlane, svc Service, name string) metav1.ObjectMeta {
	meta := controlplane.ChildMeta(cp, name)
	meta.Labels[c5c3v1alpha1.LabelServiceUser] = svc.name
	return meta
}

// loginSecret builds the Secret with the name and password of a user, from which K-ORC creates
// that. A service with a password reads it as well. The login of an application credential has
// that name then, and this Secret has everything from which K-ORC creates the credential.
func loginSecret(cp *c5c3v1alpha1.ControlPlane, svc Service, made *corev1.Secret) (*corev1.Secret, error) {
	password := made.Data[keyPassword]
	name := svc.name + "-" + controlplane.ShortHash(string(password))
	meta := userMeta(cp, svc, userObjectName(cp, svc, password))
	login := &corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{KeyUsername: []byte(name), keyPassword: password}}
	if !hasCredential(made) {
		return login, nil
	}
	text, err := clouds.User(controlplane.AuthURL(cp), cp, name, string(password), serviceProject.Name)
	if err != nil {
		return nil, err
	}
	login.Name = ownerSecretName(login.Name)
	login.Data[keyCredential], login.Data[clouds.Key] = made.Data[keyCredential], text
	return login, nil
}

// userOf builds the K-ORC object of the user with the login.
func userOf(cp *c5c3v1alpha1.ControlPlane, svc Service, login *corev1.Secret) *orcv1alpha1.User {
	return &orcv1alpha1.User{
		ObjectMeta: userMeta(cp, svc, userObjectName(cp, svc, login.Data[keyPassword])),
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

// usersOf returns the objects of the service's current and earlier users and of their
// application credentials.
func usersOf(ctx context.Context, s *pass.Pass, svc Service) ([]korc.Object, error) {
	return listUsers(ctx, s, client.MatchingLabels{c5c3v1alpha1.LabelServiceUser: svc.name})
}

// Users are those of all services, with their application credentials.
func Users(ctx context.Context, s *pass.Pass) ([]korc.Object, error) {
	return listUsers(ctx, s, client.HasLabels{c5c3v1alpha1.LabelServiceUser})
}

func listUsers(ctx context.Context, s *pass.Pass, having client.ListOption) ([]korc.Object, error) {
	found, err := korc.Own[korc.Object](ctx, s, having, &orcv1alpha1.ApplicationCredentialList{}, &orcv1alpha1.UserList{})
	if err != nil {
		return nil, fmt.Errorf("listing the users of services: %w", err)
	}
	return found, nil
}
