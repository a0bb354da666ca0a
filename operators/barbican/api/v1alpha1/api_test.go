package v1alpha1

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/apitest"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

const configDir = "../../config"

// minimal returns the least a user has to write.
func minimal() *Barbican {
	return &Barbican{
		ObjectMeta: metav1.ObjectMeta{Name: "barbican", Namespace: "openstack"},
		Spec: BarbicanSpec{
			ServiceSpec: commonv1.ServiceSpec{
				Image: commonv1.ImageSpec{Repository: "ghcr.io/c5c3/barbican", Tag: "2025.2"},
				Cache: commonv1.CacheSpec{Servers: []string{"memcached.example.com:11211"}},
			},
			DataSpec: commonv1.DataSpec{
				Database: commonv1.DatabaseSpec{
					Host: "db.example.com", Database: "barbican", SecretRef: commonv1.SecretRefSpec{Name: "barbican-db"},
				},
			},
			Identity:             commonv1.IdentitySpec{AuthURL: "http://keystone.openstack.svc:5000/v3"},
			ServiceUserSecretRef: commonv1.SecretRefSpec{Name: "barbican-user"},
		},
	}
}

// cleaned says when what was deleted is removed.
func cleaned() *Barbican {
	b := minimal()
	b.Spec.DefaultSecretStore = "vault"
	b.Spec.CleanUp = &commonv1.CleanUpSpec{Schedule: "@daily", Suspend: true, MinDays: 30}
	return b
}

type violation apitest.Violation[*Barbican]

type defaultRow apitest.Default

func violations() []violation {
	return []violation{
		{
			"a name that no Service can have", func(b *Barbican) { b.Name = "1.barbican" },
			"metadata.name", "name must start with a letter", "name must start with a letter", "Invalid value",
		},
		{
			"a schedule that is no cron expression", func(b *Barbican) { b.Spec.CleanUp = &commonv1.CleanUpSpec{Schedule: "tomorrow", MinDays: 1} },
			"spec.cleanUp.schedule", "invalid cron expression", "", "",
		},
		{
			"a clean-up of what was deleted tomorrow", func(b *Barbican) { b.Spec.CleanUp = &commonv1.CleanUpSpec{Schedule: "@daily", MinDays: -1} },
			"spec.cleanUp.minDays", "must be between 1 and 36500 days", "greater than or equal to 1", "",
		},
		{
			"a key in the options", func(b *Barbican) {
				b.Spec.ExtraConfig = map[string]map[string]string{"simple_crypto_plugin": {"kek": "secret"}}
			},
			"spec.extraConfig[simple_crypto_plugin][kek]", "keeps the key-encryption key in a Secret of its own", "", "",
		},
		{
			"a key in the options of all services", func(b *Barbican) {
				b.Spec.GlobalExtraConfig = map[string]map[string]string{"simple_crypto_plugin": {"kek": "secret"}}
			},
			"spec.globalExtraConfig[simple_crypto_plugin][kek]", "keeps the key-encryption key in a Secret of its own", "", "",
		},
		{
			"a name too long for a Job", func(b *Barbican) { b.Name = strings.Repeat("p", 41) },
			"metadata.name", "name must be no longer than 40 characters", "name must be no longer than 40 characters", "Invalid value",
		},
	}
}

func barbicans() apitest.Kind[*Barbican] {
	return apitest.Service[*Barbican]{
		Selector: SelectorLabels,
		Policy:   "secrets:get",
	}.Completed(apitest.Kind[*Barbican]{
		Definition: configDir + "/crd/bases/barbican.openstack.c5c3.io_barbicans.yaml",
		Columns:    []string{"Ready", "Endpoint", "Release", "Age"},
		Minimal:    minimal,
		Complete:   []func() *Barbican{minimal, cleaned},

		Rules:       slices.Concat(table, Limits.Table()),
		Immutables:  immutables,
		UpdateRules: ValidateUpdate,
		Defaults:    SetDefaults,

		DefaultRows: apitest.Defaults([]defaultRow{
			{"spec.cleanUp.schedule", "30 3 * * *", ""}, {"spec.cleanUp.suspend", false, ""}, {"spec.cleanUp.minDays", int64(90), ""},
		}),

		Violations: apitest.Violations(violations()),
		Accepted: map[string]func(*Barbican){
			"the longest name": func(b *Barbican) { b.Name = strings.Repeat("p", 40) },
		},
		Obsolete: func(b *Barbican) { b.Spec.PriorityClassName = new("Gone_Class") },
		Words:    []string{"barbican"},
	})
}

// minimalStore returns the least a user has to write.
func minimalStore() *BarbicanSecretStore {
	return &BarbicanSecretStore{
		ObjectMeta: metav1.ObjectMeta{Name: "vault", Namespace: "openstack"},
		Spec: BarbicanSecretStoreSpec{
			BarbicanRef: commonv1.ServiceReference{Name: "barbican"},
			SecretStoreSpec: SecretStoreSpec{Type: StoreVault, Vault: VaultSpec{
				URL: "https://openbao.example.com:8200", KVMountpoint: "barbican",
				CredentialsSecretRef: commonv1.CredentialsReference{Name: "vault-credentials"},
			}},
		},
	}
}

// inNamespace returns a store in a namespace, with a CA of its own.
func inNamespace() *BarbicanSecretStore {
	s := minimalStore()
	s.Spec.Vault.Namespace, s.Spec.Vault.CABundle = "clouds/one", apitest.Authority
	return s
}

type storeViolation apitest.Violation[*BarbicanSecretStore]

func storeViolations() []storeViolation {
	return []storeViolation{
		{
			"a type that Barbican has no plugin for", func(s *BarbicanSecretStore) { s.Spec.Type = "Disk" },
			"spec.type", `supported values: "Vault"`, "Unsupported value", "",
		},
		{
			"an address without a scheme", func(s *BarbicanSecretStore) { s.Spec.Vault.URL = "openbao.example.com:8200" },
			"spec.vault.url", "it must begin with http:// or https://", apitest.NoMatch, "",
		},
		{
			"a path that begins with a slash", func(s *BarbicanSecretStore) { s.Spec.Vault.KVMountpoint = "/barbican" },
			"spec.vault.kvMountpoint", "a path without a slash at its ends", apitest.NoMatch, "",
		},
		{
			"a namespace that ends with a slash", func(s *BarbicanSecretStore) { s.Spec.Vault.Namespace = "clouds/" },
			"spec.vault.namespace", "a path without a slash at its ends", apitest.NoMatch, "",
		},
		{
			"no certificate", func(s *BarbicanSecretStore) { s.Spec.Vault.CABundle = "openbao" },
			"spec.vault.caBundle", "there is no certificate in PEM form", "", "",
		},
		{
			"no Barbican", func(s *BarbicanSecretStore) { s.Spec.BarbicanRef.Name = "" },
			"spec.barbicanRef.name", "name the Barbican", apitest.TooShort, "",
		},
		{
			"no Secret", func(s *BarbicanSecretStore) { s.Spec.Vault.CredentialsSecretRef.Name = "" },
			"spec.vault.credentialsSecretRef.name", "name the Secret", apitest.TooShort, "",
		},
	}
}

func secretStores() apitest.Kind[*BarbicanSecretStore] {
	return apitest.Kind[*BarbicanSecretStore]{
		Definition:  configDir + "/crd/bases/barbican.openstack.c5c3.io_barbicansecretstores.yaml",
		Columns:     []string{"Barbican", "Type", "Ready", "Age"},
		Minimal:     minimalStore,
		Complete:    []func() *BarbicanSecretStore{inNamespace},
		Rules:       storeTable,
		Immutables:  storeImmutables,
		UpdateRules: ValidateStoreUpdate,
		Updates: []apitest.Violation[*BarbicanSecretStore]{
			{
				Name: "another engine", Change: func(s *BarbicanSecretStore) { s.Spec.Vault.KVMountpoint = "others" },
				Path: "spec.vault.kvMountpoint", Message: "the mount point and the namespace cannot be changed",
			},
			{
				Name: "another namespace", Change: func(s *BarbicanSecretStore) { s.Spec.Vault.Namespace = "others" },
				Path: "spec.vault.kvMountpoint", Message: "the mount point and the namespace cannot be changed",
			},
			{
				Name: "another Barbican", Change: func(s *BarbicanSecretStore) { s.Spec.BarbicanRef.Name = "others" },
				Path: "spec.barbicanRef", Message: "the Barbican cannot be changed",
			},
		},
		Violations: apitest.Violations(storeViolations()),
		Accepted: map[string]func(*BarbicanSecretStore){
			"an address in the clear, below a path": func(s *BarbicanSecretStore) { s.Spec.Vault.URL = "http://[fd00::1]:8200/vault/" },
		},
		Words: []string{"vault"},
	}
}

func kinds() apitest.Kinds { return apitest.Kinds{barbicans(), secretStores()} }

func TestTheBarbicanAPIPassesAllAPIChecks(t *testing.T) {
	// JSON carries no text that is not valid UTF-8.
	kinds().Prove(t, "validation*.go", " must be valid UTF-8")
}

func TestAnImageWithoutANameIsRefusedWithTheNameOfBarbicans(t *testing.T) {
	b := minimal()
	b.Spec.Image.Repository = ""
	if err := Validate(b).ToAggregate(); err == nil || !strings.Contains(err.Error(), "for example ghcr.io/c5c3/barbican") {
		t.Errorf("got %v", err)
	}
}

func TestEveryConditionAndReasonIsInTheVocabulary(t *testing.T) {
	apitest.EveryConditionAndReasonIsListed(t, Vocabularies(), "conditions.go")
}

func TestEveryEventIsInTheVocabulary(t *testing.T) {
	apitest.EveryEventIsListed(t, Vocabularies(), "events.go")
}

func TestAKeyInASecretWithOptionsIsRefusedWithoutQuotingIt(t *testing.T) {
	err := CheckSecretOptions(map[string]map[string]string{"Simple_Crypto_Plugin": {"kek": "hunter2"}})
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "remove [simple_crypto_plugin] kek") {
		t.Errorf("got %v", err)
	}
	if err := CheckSecretOptions(map[string]map[string]string{"quotas": {"quota_secrets": "5"}}); err != nil {
		t.Error(err)
	}
}
