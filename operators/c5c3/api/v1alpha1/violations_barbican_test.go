package v1alpha1

import "github.com/c5c3/forge/internal/common/testutil/apitest"

// ofSecretStore changes the first secret store.
func ofSecretStore(change func(*ServiceBarbicanSecretStoreSpec)) func(*ControlPlane) {
	return func(cp *ControlPlane) {
		if barbican := cp.Spec.Services.Barbican; barbican != nil && len(barbican.SecretStores) > 0 {
			change(&barbican.SecretStores[0])
		}
	}
}

func secretStoreViolations() []violation {
	const stores, first = barbicanPath + ".secretStores", barbicanPath + ".secretStores[0]"
	return []violation{
		{
			"a secret store twice", func(cp *ControlPlane) {
				if barbican := cp.Spec.Services.Barbican; barbican != nil {
					barbican.SecretStores = append(barbican.SecretStores, inVault("vault"))
				}
			}, stores + "[1]", "Duplicate value", "Duplicate value", "",
		},
		{
			"a secret store with a name that no resource has", ofSecretStore(func(s *ServiceBarbicanSecretStoreSpec) { s.Name = "Vault_1" }),
			first + ".name", "a lowercase RFC 1123 label", apitest.NoMatch, "",
		},
		{
			"a secret store of an unknown type", ofSecretStore(func(s *ServiceBarbicanSecretStoreSpec) { s.Type = "Disk" }),
			first + ".type", `supported values: "Vault"`, "Unsupported value", "",
		},
		{
			"the address of a secret store without a scheme", ofSecretStore(func(s *ServiceBarbicanSecretStoreSpec) { s.Vault.URL = "vault:8200" }),
			first + ".vault.url", "it must begin with http:// or https://", apitest.NoMatch, "",
		},
		{
			"an engine whose path begins with a slash",
			ofSecretStore(func(s *ServiceBarbicanSecretStoreSpec) { s.Vault.KVMountpoint = "/barbican" }),
			first + ".vault.kvMountpoint", "a path without a slash at its ends", apitest.NoMatch, "",
		},
		{
			"a namespace of a secret store that ends with a slash",
			ofSecretStore(func(s *ServiceBarbicanSecretStoreSpec) { s.Vault.Namespace = "one/" }),
			first + ".vault.namespace", "a path without a slash at its ends", apitest.NoMatch, "",
		},
		{
			"no certificate of a secret store", ofSecretStore(func(s *ServiceBarbicanSecretStoreSpec) { s.Vault.CABundle = "vault" }),
			first + ".vault.caBundle", "there is no certificate in PEM form", "", "",
		},
		{
			"no Secret of a secret store",
			ofSecretStore(func(s *ServiceBarbicanSecretStoreSpec) { s.Vault.CredentialsSecretRef.Name = "" }),
			first + ".vault.credentialsSecretRef.name", "name the Secret", apitest.TooShort, "",
		},
	}
}
