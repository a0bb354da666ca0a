package controller

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	barbicanv1alpha1 "github.com/c5c3/forge/operators/barbican/api/v1alpha1"
)

// withVault is a pass over a Barbican with a store.
func withVault(change func(*barbicanv1alpha1.Barbican, *store)) *scope {
	b := &barbicanv1alpha1.Barbican{}
	b.Name, b.Namespace = "barbican", "openstack"
	b.Spec.Cache.Servers = []string{"one:11211"}
	s := &store{ObjectMeta: metav1.ObjectMeta{Name: "vault", UID: "vault-uid"}}
	s.Spec.Type, s.Spec.Vault.URL, s.Spec.Vault.KVMountpoint = barbicanv1alpha1.StoreVault, "https://openbao:8200", "barbican"
	if change != nil {
		change(b, s)
	}
	barbicanv1alpha1.SetDefaults(b)
	pass := service.NewScope(&service.Tools{}, &definition, b, struct{}{})
	stores.Accepted.Put(pass.Slots, []accepted{{Resource: s, Credentials: &corev1.Secret{Data: map[string][]byte{
		"role-id": []byte("r"), "secret-id": []byte("s"),
	}}}})
	return pass
}

// rendered returns the options and the files of a pass.
func rendered(t *testing.T, s *scope) (ini.File, map[string]string) {
	t.Helper()
	options, files, err := settings.Render(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return options, files
}

func TestAStoreIsASecondPlaceForSecrets(t *testing.T) {
	options, files := rendered(t, withVault(func(_ *barbicanv1alpha1.Barbican, s *store) {
		s.Spec.Vault.Namespace, s.Spec.Vault.CABundle = "clouds/one", "a certificate"
	}))
	want := ini.File{
		"secretstore": {
			"enabled_secretstore_plugins": "store_crypto", "enable_multiple_secret_stores": "true", "stores_lookup_suffix": "database,vault",
		},
		"secretstore:database": {"secret_store_plugin": "store_crypto", "crypto_plugin": "simple_crypto", "global_default": "true"},
		"secretstore:vault":    {"secret_store_plugin": "vault_plugin", "global_default": "false"},
		"vault_plugin": {
			"vault_url": "https://openbao:8200", "kv_mountpoint": "barbican", "namespace": "clouds/one",
			"ssl_ca_crt_file": "/etc/barbican/barbican.conf.d/vault-ca.pem",
		},
	}
	for section := range want {
		if diff := cmp.Diff(want[section], options[section]); diff != "" {
			t.Errorf("[%s] (-want +got):\n%s", section, diff)
		}
	}
	if files["vault-ca.pem"] != "a certificate" {
		t.Errorf("the file with the CAs has %q", files["vault-ca.pem"])
	}
}

func TestTheCredentialsOfAStoreAreInNoConfigMap(t *testing.T) {
	s := withVault(nil)
	options, files := rendered(t, s)
	if _, ok := files["vault-ca.pem"]; ok || options["vault_plugin"]["ssl_ca_crt_file"] != "" {
		t.Error("a store without a CA of its own has one")
	}
	if role, ok := options.Get("vault_plugin", "approle_role_id"); ok {
		t.Errorf("the role is %q there", role)
	}
	want := ini.File{"vault_plugin": {"approle_role_id": "r", "approle_secret_id": "s"}}
	if diff := cmp.Diff(want, stores.SecretOptions(stores.Accepted.Value(s.Slots)[0])); diff != "" {
		t.Errorf("secret options (-want +got):\n%s", diff)
	}
}

func TestAStoreBecomesTheDefaultOnceAllPodsHaveIt(t *testing.T) {
	had := func(uid types.UID, configuration string) func(*barbicanv1alpha1.Barbican, *store) {
		return func(b *barbicanv1alpha1.Barbican, _ *store) {
			b.Spec.DefaultSecretStore = "vault"
			b.Status.SecretStores = []commonv1.Attached{{Name: "vault", UID: uid, Configuration: configuration}}
		}
	}
	for name, c := range map[string]struct {
		change func(*barbicanv1alpha1.Barbican, *store)
		want   string
	}{
		"no pod may have it":               {func(b *barbicanv1alpha1.Barbican, _ *store) { b.Spec.DefaultSecretStore = "vault" }, "false"},
		"pods had another one of its name": {had("former", "digest"), "false"},
		"no pod has it":                    {had("vault-uid", ""), "false"},
		"all pods have it":                 {had("vault-uid", "digest"), "true"},
		"it is not the default": {func(b *barbicanv1alpha1.Barbican, s *store) {
			had("vault-uid", "digest")(b, s)
			b.Spec.DefaultSecretStore = ""
		}, "false"},
	} {
		options, _ := rendered(t, withVault(c.change))
		first, database := options["secretstore:vault"]["global_default"], options["secretstore:database"]["global_default"]
		if first != c.want || database == first {
			t.Errorf("%s: it is the default: %s, and the database: %s", name, first, database)
		}
	}
}

func TestADefaultStoreThatDoesNotExistIsNamed(t *testing.T) {
	for name, want := range map[string]string{"": "", "vault": "", "other": "spec.defaultSecretStore names the BarbicanSecretStore other"} {
		s := withVault(func(b *barbicanv1alpha1.Barbican, _ *store) { b.Spec.DefaultSecretStore = name })
		got := lacks(s.Resource, stores.Accepted.Value(s.Slots))
		if !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%q: got %q", name, got)
		}
	}
}

func TestModulesOfTheImageAreCorrected(t *testing.T) {
	_, files := rendered(t, withVault(nil))
	for module, file := range corrections.Corrections {
		named := strings.Contains(files["sitecustomize.py"], `"`+module+`":"`+file+`"`)
		if !named || !strings.Contains(files[file+".py"], "def correct(module)") {
			t.Errorf("nothing corrects %s", module)
		}
	}
}
