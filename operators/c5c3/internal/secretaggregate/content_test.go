package secretaggregate

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/golden"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

const (
	ofClouds   = c5c3v1alpha1.AggregatedAdminApplicationCredential
	ofAdmin    = c5c3v1alpha1.AggregatedAdminPassword
	ofDatabase = c5c3v1alpha1.AggregatedDatabaseCredentials
)

// brownfield uses the user's own credentials, with the user's own keys.
func brownfield() *c5c3v1alpha1.ControlPlane {
	cp := fixture.Minimal()
	cp.Spec.Infrastructure.Database.DatabaseSpec = commonv1.DatabaseSpec{
		Host: "db.example.com", SecretRef: commonv1.SecretRefSpec{Name: "db", Key: "pw"},
	}
	return cp
}

// fernetKeys reports whether the name is that of a Secret of a service.
func fernetKeys(name string, cp *c5c3v1alpha1.ControlPlane) bool {
	return name == cp.Name+"-keystone-fernet-keys"
}

func aggregateOf(sources ...c5c3v1alpha1.SecretAggregateSource) *c5c3v1alpha1.SecretAggregate {
	return &c5c3v1alpha1.SecretAggregate{
		ObjectMeta: metav1.ObjectMeta{Name: "dashboard", Namespace: "openstack"}, Spec: c5c3v1alpha1.SecretAggregateSpec{Sources: sources},
	}
}

// origins describes each entry as "key=Secret/key".
func origins(entries []aggregateEntry) []string {
	told := make([]string, 0, len(entries))
	for _, entry := range entries {
		told = append(told, entry.key+"="+entry.secret+"/"+entry.from)
	}
	return told
}

func TestASecretAggregateCollectsTheSelectedKeys(t *testing.T) {
	for name, c := range map[string]struct {
		cp        *c5c3v1alpha1.ControlPlane
		aggregate *c5c3v1alpha1.SecretAggregate
		want      []string
	}{
		"everything without sources": {fixture.Minimal(), aggregateOf(), []string{
			"databaseCredentials.password=controlplane-keystone-db-credentials/password",
			"databaseCredentials.username=controlplane-keystone-db-credentials/username",
			"adminPassword.password=controlplane-keystone-admin-credentials/password",
			"adminApplicationCredential.clouds.yaml=k-orc-clouds-yaml/clouds.yaml",
		}},
		"some, under keys of its own": {
			fixture.Minimal(), aggregateOf(
				c5c3v1alpha1.SecretAggregateSource{Credential: ofClouds, KeyPrefix: new("")},
				c5c3v1alpha1.SecretAggregateSource{Credential: ofDatabase, Keys: []string{"password"}, KeyPrefix: new("db-")},
			), []string{"db-password=controlplane-keystone-db-credentials/password", "clouds.yaml=k-orc-clouds-yaml/clouds.yaml"},
		},
		"the user's own Secrets, as far as the control plane reads them": {brownfield(), aggregateOf(), []string{
			"databaseCredentials.pw=db/pw", "databaseCredentials.username=db/username",
			"adminPassword.password=keystone-admin/password", "adminApplicationCredential.clouds.yaml=k-orc-clouds-yaml/clouds.yaml",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			entries, err := aggregateEntries(c.aggregate, c.cp, fernetKeys)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, origins(entries)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestImpossibleSourcesAndTargetsAreRefused(t *testing.T) {
	named := func(target string) *c5c3v1alpha1.SecretAggregate {
		aggregate := aggregateOf()
		aggregate.Spec.TargetSecretName = target
		return aggregate
	}
	for says, aggregate := range map[string]*c5c3v1alpha1.SecretAggregate{
		`adminPassword has no entry "token": spec.sources[].keys may name password`: aggregateOf(
			c5c3v1alpha1.SecretAggregateSource{Credential: ofAdmin, Keys: []string{"token"}}),
		"cannot be a key": aggregateOf(c5c3v1alpha1.SecretAggregateSource{Credential: ofAdmin, KeyPrefix: new(strings.Repeat("x", 250))}),
		"Secret k-orc-clouds-yaml belongs to ControlPlane controlplane":           named("k-orc-clouds-yaml"),
		"Secret controlplane-keystone-fernet-keys belongs to":                     named("controlplane-keystone-fernet-keys"),
		"Secret controlplane-admin-app-credential belongs to":                     named("controlplane-admin-app-credential"),
		"spec.targetSecretName: Secret controlplane":                              named("controlplane-admin-password-cloud"),
		"Secret controlplane-keystone-db-credentials belongs to ControlPlane con": named("controlplane-keystone-db-credentials"),
	} {
		if entries, err := aggregateEntries(aggregate, fixture.Minimal(), fernetKeys); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v and %v, expected an error that says %q", origins(entries), err, says)
		}
	}
}

func TestCollidingKeysAreRefusedWithTheNamesOfTheirSources(t *testing.T) {
	entries, err := aggregateEntries(aggregateOf(
		c5c3v1alpha1.SecretAggregateSource{Credential: ofDatabase, KeyPrefix: new("")},
		c5c3v1alpha1.SecretAggregateSource{Credential: ofAdmin, KeyPrefix: new("")},
	), fixture.Minimal(), fernetKeys)
	if err != nil {
		t.Fatal(err)
	}
	err = keyCollision(entries)
	if err == nil || !strings.Contains(err.Error(), `databaseCredentials and adminPassword would both be the entry "password"`) {
		t.Errorf("got %v", err)
	}
	if err := keyCollision(slices.DeleteFunc(entries, func(e aggregateEntry) bool { return e.credential == ofAdmin })); err != nil {
		t.Errorf("the entries of one source collide: %v", err)
	}
}

func TestMissingSecretsAndKeysAreNamed(t *testing.T) {
	entries, err := aggregateEntries(aggregateOf(), fixture.Minimal(), fernetKeys)
	if err != nil {
		t.Fatal(err)
	}
	withPassword := "{clouds: {admin: {auth: {password: x}}}}"
	withCredential := "{clouds: {admin: {auth: {application_credential_id: x, application_credential_secret: y}}}}"
	clouds := &corev1.Secret{Data: map[string][]byte{"clouds.yaml": []byte(withPassword)}}
	found := map[string]*corev1.Secret{
		"k-orc-clouds-yaml": clouds, "controlplane-keystone-admin-credentials": {Data: map[string][]byte{"password": {}}},
	}
	want := []string{
		"Secret controlplane-keystone-db-credentials (databaseCredentials)",
		"key password in Secret controlplane-keystone-admin-credentials (adminPassword)",
		"an application credential in Secret k-orc-clouds-yaml (adminApplicationCredential)",
	}
	if diff := cmp.Diff(want, missingEntries(entries, found)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	clouds.Data["clouds.yaml"] = []byte("clouds: [")
	if diff := cmp.Diff(want, missingEntries(entries, found)); diff != "" {
		t.Errorf("with no YAML (-want +got):\n%s", diff)
	}
	clouds.Data["clouds.yaml"] = []byte(withCredential)
	if diff := cmp.Diff(want[:2], missingEntries(entries, found)); diff != "" {
		t.Errorf("with an application credential (-want +got):\n%s", diff)
	}
}

func TestTheTargetSecretMatchesItsGoldenFile(t *testing.T) {
	entries, err := aggregateEntries(aggregateOf(), fixture.Minimal(), fernetKeys)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]*corev1.Secret{}
	for _, entry := range entries {
		if found[entry.secret] == nil {
			found[entry.secret] = &corev1.Secret{Data: map[string][]byte{"of-nobody": []byte("not collected")}}
		}
		found[entry.secret].Data[entry.from] = []byte(entry.secret + " " + entry.from)
	}
	golden.CompareYAML(t, "secretaggregate.yaml", aggregateSecret(aggregateOf(), fixture.Minimal(), entries, found))
}
