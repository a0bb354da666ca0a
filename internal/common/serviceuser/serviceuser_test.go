package serviceuser

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

func passOf(t *testing.T, l *instance.Lighthouse, objects ...client.Object) *service.Pass {
	t.Helper()
	p := instance.Pass(t, l, interceptor.Funcs{}, objects...)
	p.Refs, p.Jobs.Events = p.Client, p.Client
	return p
}

func secret(data map[string]string) *corev1.Secret {
	meta := metav1.ObjectMeta{Namespace: "openstack", Name: "harbour-user", UID: "user-uid"}
	s := &corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{}}
	for key, value := range data {
		s.Data[key] = []byte(value)
	}
	return s
}

func TestKeystoneAuthtokenOptionsFollowTheIdentitySpec(t *testing.T) {
	l := instance.WithUser()
	l.Spec.Cache.Servers = []string{"one:11211", "two:11211"}
	l.Identity.AuthURL, l.Identity.Project = "https://identity.example.com/v3", "services"
	want := ini.File{"keystone_authtoken": {
		"auth_type": "password", "auth_url": "https://identity.example.com/v3",
		"www_authenticate_uri": "https://identity.example.com/v3", "interface": "internal",
		"project_name": "services", "project_domain_name": "Default", "user_domain_name": "Default",
		"service_type": "harbour", "service_token_roles": "service", "service_token_roles_required": "true",
		"memcached_servers": "one:11211,two:11211", "memcache_pool_socket_timeout": "1", "memcache_pool_dead_retry": "10",
		"memcache_security_strategy": "MAC",
	}}
	if diff := cmp.Diff(want, Configuration.Options(passOf(t, l))); diff != "" {
		t.Errorf("without a region (-want +got):\n%s", diff)
	}
	l.Identity.Region = "RegionOne"
	want.Set("keystone_authtoken", "region_name", "RegionOne")
	if diff := cmp.Diff(want, Configuration.Options(passOf(t, l))); diff != "" {
		t.Errorf("with a region (-want +got):\n%s", diff)
	}
}

func TestTheServiceUserPasswordIsReadFromTheReferencedKey(t *testing.T) {
	for _, key := range []string{"", "pw"} {
		l := instance.WithUser()
		l.ServiceUserSecretRef.Key = key
		p := passOf(t, l, secret(map[string]string{"username": "har$bour", l.ServiceUserSecretRef.KeyOr("password"): "pa$$word"}))
		got, sources, err := Configuration.SecretOptions(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		want := ini.File{"keystone_authtoken": {"username": "har$$bour", "password": "pa$$$$word"}}
		if diff := cmp.Diff(want, got); diff != "" || len(sources) != 1 || sources[0] != "user-uid" {
			t.Errorf("key %q: from %v (-want +got):\n%s", key, sources, diff)
		}
	}
}

func TestTheServiceUserPasswordIsRedactedButNotItsName(t *testing.T) {
	p := passOf(t, instance.WithUser(), secret(map[string]string{"username": "harbour", "password": "pa$$word"}))
	if _, _, err := Configuration.SecretOptions(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"pa$$word", "pa$$$$word"} {
		if !slices.Contains(p.Hidden(), want) {
			t.Errorf("%q is not hidden", want)
		}
	}
	if slices.Contains(p.Hidden(), "harbour") {
		t.Error("errors lose the name of the service and of its options")
	}
}

func TestTheMemcacheSecretKeyIsUniquePerResource(t *testing.T) {
	keyOf := func(uid, password string) string {
		l := instance.WithUser()
		l.UID = types.UID(uid)
		p := passOf(t, l, secret(map[string]string{"username": "harbour", "password": password}))
		options, _, err := Configuration.SecretOptions(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		key := Configuration.Derived(p, options)["keystone_authtoken"]["memcache_secret_key"]
		if len(key) != 64 || !slices.Contains(p.Hidden(), key) {
			t.Errorf("the key has %d characters, hidden: %t", len(key), slices.Contains(p.Hidden(), key))
		}
		return key
	}
	key := keyOf("one", "a")
	if key != keyOf("one", "a") {
		t.Error("the key changes without a reason")
	}
	if key == keyOf("two", "a") || key == keyOf("one", "b") {
		t.Error("two resources have the same key")
	}
}

// readSecret returns the options of the login with the data in the Secret of the service user.
func readSecret(t *testing.T, data map[string]string) (ini.File, *service.Pass, error) {
	t.Helper()
	p := passOf(t, instance.WithUser(), secret(data))
	options, _, err := Configuration.SecretOptions(t.Context(), p)
	return options, p, err
}

func TestAServiceUserCanLogInWithAnApplicationCredential(t *testing.T) {
	got, p, err := readSecret(t, map[string]string{
		"username": "harbour", "application_credential_id": "the-id", "application_credential_secret": "s3$cret",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := ini.File{"keystone_authtoken": {
		"auth_type": "v3applicationcredential", "project_name": "",
		"application_credential_id": "the-id", "application_credential_secret": "s3$$cret",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, hidden := range []string{"s3$cret", "s3$$cret"} {
		if !slices.Contains(p.Hidden(), hidden) {
			t.Errorf("%q is not hidden", hidden)
		}
	}
	key := func(secret string) string {
		got.Set("keystone_authtoken", "application_credential_secret", secret)
		return Configuration.Derived(p, got)["keystone_authtoken"]["memcache_secret_key"]
	}
	if key("one") == key("two") {
		t.Error("the key of the cache does not depend on the secret of the credential")
	}
}

func TestAnIncompleteOrAmbiguousLoginOfTheServiceUserIsNamed(t *testing.T) {
	const where = "Secret harbour-user of spec.serviceUserSecretRef"
	for name, c := range map[string]struct {
		data         map[string]string
		reason, want string
	}{
		"nothing": {nil, vocabulary.ReasonWaitingForServiceUser, where + " lacks a value under username and password"},
		"a secret": {
			map[string]string{"application_credential_secret": "s"}, vocabulary.ReasonWaitingForServiceUser, "under application_credential_id",
		},
		"an ID": {
			map[string]string{"username": "u", "application_credential_id": "i"},
			vocabulary.ReasonWaitingForServiceUser,
			where + " lacks a value under application_credential_secret",
		},
		"an empty secret": {
			map[string]string{"application_credential_id": "i", "application_credential_secret": ""},
			vocabulary.ReasonWaitingForServiceUser,
			"under application_credential_secret",
		},
		"a password, too": {
			map[string]string{"password": "p", "application_credential_id": "i", "application_credential_secret": "s"},
			vocabulary.ReasonSecretInvalid, "in " + where + " are both a password, under password, and an application credential",
		},
		"a secret in two lines": {
			map[string]string{"application_credential_id": "i", "application_credential_secret": "s\nt"},
			vocabulary.ReasonSecretInvalid, "the application_credential_secret in " + where + " cannot be used",
		},
	} {
		_, _, err := readSecret(t, c.data)
		outcome := reconcile.Failed(vocabulary.ReasonConfigError, err)
		if outcome.Reason() != c.reason || !strings.Contains(outcome.Message(), c.want) {
			t.Errorf("%s: got %s: %s", name, outcome.Reason(), outcome.Message())
		}
	}
}

// checked returns the outcome of the step after the Job of the check has ended as given.
func checked(t *testing.T, p *service.Pass, end batchv1.JobConditionType) (reason, message string) {
	t.Helper()
	Reconcile(t.Context(), p)
	ended := &batchv1.Job{}
	if err := p.Client.Get(t.Context(), p.Key("harbour-service-user-check"), ended); err != nil {
		t.Fatal(err)
	}
	ended.Status.Conditions = []batchv1.JobCondition{{Type: end, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
	if err := p.Client.Status().Update(t.Context(), ended); err != nil {
		t.Fatal(err)
	}
	outcome := Reconcile(t.Context(), p)
	return outcome.Reason(), outcome.Message()
}

func TestAUserIsAcceptedOnceItHasValidatedAToken(t *testing.T) {
	p := passOf(t, instance.WithUser())
	if outcome := Reconcile(t.Context(), p); outcome.Reason() != vocabulary.ReasonServiceUserCheckInProgress {
		t.Errorf("before its Job has ended: %s: %s", outcome.Reason(), outcome.Message())
	}
	if reason, message := checked(t, p, batchv1.JobComplete); reason != vocabulary.ReasonServiceUserAccepted {
		t.Errorf("got %s: %s", reason, message)
	}
	reason, message := checked(t, passOf(t, instance.WithUser()), batchv1.JobFailed)
	const where = "cannot validate tokens at http://keystone.openstack.svc:5000/v3"
	if reason != vocabulary.ReasonServiceUserRefused || !strings.Contains(message, where) {
		t.Errorf("got %s: %s", reason, message)
	}
}

func TestTheServiceUserIsCheckedAgainWhenItsInputsChange(t *testing.T) {
	keyAfter := func(change func(*instance.Lighthouse, *service.Rendered)) string {
		l, rendered := instance.WithUser(), service.Rendered{ConfigMap: "harbour-config-1", Secret: "harbour-extra-config-1", Given: "given-1"}
		change(l, &rendered)
		p := passOf(t, l)
		service.Config.Put(p.Slots, rendered)
		desired, err := deployment.TaskJob(p, checkTask(p))
		if err != nil {
			t.Fatal(err)
		}
		return desired.Annotations[job.RunKeyAnnotation]
	}
	before := keyAfter(func(*instance.Lighthouse, *service.Rendered) {})
	for name, c := range map[string]struct {
		change func(*instance.Lighthouse, *service.Rendered)
		again  bool
	}{
		"another user":             {func(_ *instance.Lighthouse, r *service.Rendered) { r.Given = "given-2" }, true},
		"another Identity service": {func(l *instance.Lighthouse, _ *service.Rendered) { l.Identity.AuthURL += "/" }, true},
		"another project":          {func(l *instance.Lighthouse, _ *service.Rendered) { l.Identity.Project = "services" }, true},
		"another image":            {func(l *instance.Lighthouse, _ *service.Rendered) { l.Spec.Image.Tag = "2026.1" }, true},
		"another derived option":   {func(_ *instance.Lighthouse, r *service.Rendered) { r.Secret = "harbour-extra-config-2" }, false},
		"another option":           {func(_ *instance.Lighthouse, r *service.Rendered) { r.ConfigMap = "harbour-config-2" }, false},
	} {
		if again := keyAfter(c.change) != before; again != c.again {
			t.Errorf("with %s the check runs again: %t, want %t", name, again, c.again)
		}
	}
}
