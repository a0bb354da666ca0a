package controller

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"

	"github.com/c5c3/forge/internal/common/attachment"
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	barbicanv1alpha1 "github.com/c5c3/forge/operators/barbican/api/v1alpha1"
)

type (
	store    = barbicanv1alpha1.BarbicanSecretStore
	accepted = attachment.Accepted[*store]
)

const (
	// vaultSection has the options of Barbican's plugin for Vault. There is one, so a Barbican has
	// one such store.
	vaultSection = "vault_plugin"
	// vaultCA, among the configuration files, has the CAs of the store.
	vaultCA = "vault-ca.pem"
	// vaultModule is the Python module that corrects the client of Vault, and storesModule the one
	// that lets workers agree on the stores.
	vaultModule  = "forge_vault"
	storesModule = "forge_stores"
	// Keys of the Secret of a store.
	roleID   = "role-id"
	secretID = "secret-id"
)

var (
	//go:embed files/forge_vault.py
	vaultScript string
	//go:embed files/forge_stores.py
	storesScript string
)

// corrections are by the module of the image.
var corrections = database.Modules{Corrections: map[string]string{
	"castellan.key_manager.vault_key_manager": vaultModule, "barbican.plugin.util.multiple_backends": storesModule,
}}

// stores declares BarbicanSecretStores. Each secret says by which plugin it is stored.
var stores = attachment.Declaration[*store]{
	For: &store{}, List: &barbicanv1alpha1.BarbicanSecretStoreList{}, AddToScheme: barbicanv1alpha1.AddToScheme,
	Field: "spec.barbicanRef.name", Finalizer: "barbican.openstack.c5c3.io/in-use",
	Service: &barbicanv1alpha1.Barbican{}, Definition: &definition,
	Guard: func(s *store) error { return barbicanv1alpha1.ValidateStore(s).ToAggregate() },
	Spec:  func(s *store) any { return s.Spec },
	Identity: func(s *store) string {
		return "the type " + s.Spec.Type + ", of which a Barbican has one store,"
	},
	Credentials: func(s *store) *service.Requirement {
		return &service.Requirement{
			Name: s.Spec.Vault.CredentialsSecretRef.Name, Keys: []string{roleID, secretID}, Field: "spec.vault.credentialsSecretRef",
		}
	},
	Options: storeOptions,
	SecretOptions: func(a accepted) ini.File {
		return ini.File{vaultSection: {
			"approle_role_id": string(a.Credentials.Data[roleID]), "approle_secret_id": string(a.Credentials.Data[secretID]),
		}}
	},
	Accepted: reconcile.NewSlot[[]accepted]("SecretStores"),
	Lacks:    lacks,
	Usage: &attachment.Usage{
		Database: barbicanDatabase,
		Query: "SELECT COUNT(DISTINCT m.secret_id) FROM secret_store_metadata m JOIN secrets s ON s.id = m.secret_id " +
			"WHERE s.deleted = 0 AND m.deleted = 0 AND m.`key` = 'plugin_name' " +
			"AND m.value = 'barbican.plugin.vault_secret_store.VaultSecretStore'",
		Items:  "secrets",
		Remedy: "have their projects delete them, or store them elsewhere, and the deletion goes on",
	},
}

// lacks returns what a Barbican lacks that has these stores only.
func lacks(resource service.Resource, all []accepted) string {
	barbican, ok := resource.(*barbicanv1alpha1.Barbican)
	if !ok || barbican.Spec.DefaultSecretStore == "" || slices.ContainsFunc(all, func(a accepted) bool { return isDefault(barbican, a) }) {
		return ""
	}
	return fmt.Sprintf("spec.defaultSecretStore names the BarbicanSecretStore %s, which is not in use: create it, or name another one",
		barbican.Spec.DefaultSecretStore)
}

func isDefault(barbican *barbicanv1alpha1.Barbican, a accepted) bool {
	return a.Resource.Name == barbican.Spec.DefaultSecretStore
}

// storeOptions returns the options for the stores, without secret ones. Without a store they are
// those of a Barbican that knows of the database only.
func storeOptions(p *service.Pass, all []accepted) ini.File {
	options := ini.File{}
	if len(all) == 0 {
		return options
	}
	vault, first := all[0].Resource.Spec.Vault, comesFirst(p.Resource, all[0])
	options["secretstore"] = map[string]string{"enable_multiple_secret_stores": "true", "stores_lookup_suffix": "database,vault"}
	options["secretstore:database"] = map[string]string{
		"secret_store_plugin": "store_crypto", "crypto_plugin": "simple_crypto", "global_default": strconv.FormatBool(!first),
	}
	options["secretstore:vault"] = map[string]string{"secret_store_plugin": vaultSection, "global_default": strconv.FormatBool(first)}
	options[vaultSection] = map[string]string{"vault_url": vault.URL, "kv_mountpoint": vault.KVMountpoint}
	if vault.Namespace != "" {
		options.Set(vaultSection, "namespace", vault.Namespace)
	}
	if vault.CABundle != "" {
		options.Set(vaultSection, "ssl_ca_crt_file", configDir+vaultCA)
	}
	return options
}

// comesFirst reports whether new secrets are stored there. A pod without the store could not read
// them, so all pods get it before it becomes the default.
func comesFirst(resource service.Resource, a accepted) bool {
	barbican, ok := resource.(*barbicanv1alpha1.Barbican)
	return ok && isDefault(barbican, a) && slices.ContainsFunc(barbican.Status.SecretStores, func(known commonv1.Attached) bool {
		return known.UID == a.Resource.UID && known.Configuration != ""
	})
}
