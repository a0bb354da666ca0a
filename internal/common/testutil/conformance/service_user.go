package conformance

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// serviceUser verifies how a service gets the user with which it asks about tokens, if it
// has one.
func (s suite[T]) serviceUser(t *testing.T) {
	if !s.hasUser() {
		return
	}
	for _, proof := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"cached tokens are signed with a key of the resource", s.keyedCache},
		{"pods get a service user once the Identity service accepts it", s.acceptedUser},
		{"a missing or unusable service user is named and awaited", s.missingUser},
	} {
		t.Run(proof.name, func(t *testing.T) {
			t.Parallel()
			proof.run(t)
		})
	}
}

// user returns the fields of the service user in the resource.
func (i *Instance[T]) user() commonv1.ServiceUser {
	user, _ := commonv1.ServiceUserOf(i.Resource)
	return user
}

// userSecret is the Secret of a service user with the password.
func (i *Instance[T]) userSecret(name, password string) *corev1.Secret {
	return i.secret(name, map[string]string{"username": name, i.user().SecretRef.KeyOr("password"): password})
}

// setUser sets the password of a service user.
func (i *Instance[T]) setUser(name, password string) {
	i.Helper()
	i.setSecret(name, i.userSecret(name, password).StringData)
}

func (s suite[T]) acceptedUser(t *testing.T) {
	i := s.prepared(t, brownfield)
	i.setUser(i.user().SecretRef.Name, "pa$$word")
	i.Create()
	i.Ready()
	const first = "password = pa$$$$word"
	i.givesUser(first)
	i.setJob(userCheck, standin.Hang())
	objects.Create(t, s.Admin, i.userSecret("another-user", "second"))
	objects.Change(t, s.Admin, i.Resource, func(r T) {
		user, _ := commonv1.ServiceUserOf(r)
		user.SecretRef.Name = "another-user"
	})
	const failing = vocabulary.ConditionServiceUserReady
	i.Fails(failing, vocabulary.ReasonServiceUserCheckInProgress, i.name()+"-"+userCheck)
	i.setJob(userCheck, standin.Fail("the Identity service refuses the user"))
	i.Fails(failing, vocabulary.ReasonServiceUserRefused, i.user().Identity.AuthURL,
		"correct the Secret, the user, spec.identity or spec.image", "the Identity service refuses the user")
	i.givesUser(first)
	i.setJob(userCheck, standin.Succeed())
	i.setUser("another-user", "third")
	i.Ready()
	i.givesUser("password = third")
	i.changesToCredential("another-user")
}

// changesToCredential lets the service user log in with an application credential.
func (i *Instance[T]) changesToCredential(name string) {
	i.Helper()
	i.setSecret(name, map[string]string{commonv1.CredentialIDKey: "the-id", commonv1.CredentialSecretKey: "s3cret"})
	i.Fails(vocabulary.ConditionSecretsReady, vocabulary.ReasonSecretInvalid, "remove one of them")
	secret := i.secret(name, nil)
	objects.Change(i.T, i.Admin, secret, func(s *corev1.Secret) { delete(s.Data, i.user().SecretRef.KeyOr("password")) })
	i.Ready()
	_, options := i.options()
	if lineWith(options, "auth_type") != "auth_type = v3applicationcredential\n" || lineWith(options, "password") != "" {
		i.Error("the pods do not log in with the application credential")
	}
}

// givesUser fails the test unless the line with the password is in the configuration that
// pods have.
func (i *Instance[T]) givesUser(want string) {
	i.Helper()
	deploy := i.deployment()
	expect.Exists(i.T, i.Admin, deploy)
	for _, name := range projected(deploy) {
		options := i.secret(name, nil)
		expect.Exists(i.T, i.Admin, options)
		for _, content := range options.Data {
			for line := range strings.Lines(string(content)) {
				if !strings.HasPrefix(line, "password") {
					continue
				}
				if got := strings.TrimSpace(line); got != want {
					i.Errorf("pods have %q, want %q", got, want)
				}
				return
			}
		}
	}
	i.Error("the pods have no password")
}

// projected returns the Secrets in the projected volumes of the pods.
func projected(deploy *appsv1.Deployment) (names []string) {
	for _, volume := range deploy.Spec.Template.Spec.Volumes {
		if volume.Projected == nil {
			continue
		}
		for _, source := range volume.Projected.Sources {
			if source.Secret != nil {
				names = append(names, source.Secret.Name)
			}
		}
	}
	return names
}

func (s suite[T]) missingUser(t *testing.T) {
	resource := s.New("", "")
	user, _ := commonv1.ServiceUserOf(resource)
	name, field := user.SecretRef.Name, "spec.serviceUserSecretRef"
	i := s.prepared(t, brownfield, name)
	i.Create()
	i.Fails(vocabulary.ConditionSecretsReady, vocabulary.ReasonWaitingForServiceUser, name, "username", field)
	objects.Create(t, s.Admin, i.userSecret(name, "pass\nword"))
	i.Fails(vocabulary.ConditionSecretsReady, vocabulary.ReasonSecretInvalid, "password in Secret "+name, field)
	i.setUser(name, "password")
	i.Ready()
}

// keyedCache verifies that services which share a memcached, and even a service user, take
// no token from what the other one has cached, and that the key is in no ConfigMap.
func (s suite[T]) keyedCache(t *testing.T) {
	const key = "memcache_secret_key"
	seen := map[string]bool{}
	for range 2 {
		i := s.prepared(t, brownfield)
		i.setUser(i.user().SecretRef.Name, "shared")
		i.Create()
		i.Ready()
		configured, signed := i.options()
		line := lineWith(signed, key)
		if line == "" || seen[line] {
			t.Errorf("the pods have no %s, or that of another resource", key)
		}
		seen[line] = true
		if !strings.Contains(lineWith(configured, "memcache_security_strategy"), "MAC") || strings.Contains(configured, key) {
			t.Errorf("the ConfigMap does not sign what is cached, or has the key:\n%s", configured)
		}
	}
}

// options returns the configuration of the pods from ConfigMaps and from Secrets.
func (i *Instance[T]) options() (public, secret string) {
	i.Helper()
	deploy := i.deployment()
	expect.Exists(i.T, i.Admin, deploy)
	for _, volume := range deploy.Spec.Template.Spec.Volumes {
		if volume.Projected == nil {
			continue
		}
		for _, source := range volume.Projected.Sources {
			if source.ConfigMap == nil {
				continue
			}
			found := &corev1.ConfigMap{}
			found.Namespace, found.Name = i.namespace(), source.ConfigMap.Name
			expect.Exists(i.T, i.Admin, found)
			for _, content := range found.Data {
				public += content
			}
		}
	}
	for _, name := range projected(deploy) {
		found := i.secret(name, nil)
		expect.Exists(i.T, i.Admin, found)
		for _, content := range found.Data {
			secret += string(content)
		}
	}
	return public, secret
}

// lineWith returns the first line that begins with the option.
func lineWith(text, option string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, option) {
			return line
		}
	}
	return ""
}
