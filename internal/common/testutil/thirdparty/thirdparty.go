// Package thirdparty provides the CustomResourceDefinitions of the projects that
// forge works with, for test API servers: from the Go module of the project
// where it ships them, otherwise generated from the project's Go types.
package thirdparty

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/testutil/expect"
)

//go:generate ../../../../.cache/bin/controller-gen crd:maxDescLen=0 paths=github.com/external-secrets/external-secrets/apis/externalsecrets/v1 paths=github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1 output:crd:dir=crds
//go:generate sh -c "cd crds && rm -f *_cluster*.yaml *_secretstores.yaml"

// crds holds the definitions of External Secrets, whose apis module has none.
//
//go:embed crds
var crds embed.FS

// Project is a project whose kinds forge uses but does not own.
type Project string

// The projects, by the name of their operator.
const (
	// MariaDB is mariadb-operator: MariaDB, Database, User, Grant, Backup and Restore.
	MariaDB Project = "mariadb-operator"
	// ExternalSecrets is External Secrets: ClusterSecretStore, ExternalSecret
	// and PushSecret.
	ExternalSecrets Project = "external-secrets"
	// CertManager is cert-manager: Certificate, Issuer and ClusterIssuer.
	CertManager Project = "cert-manager"
	// GatewayAPI is the standard channel of the Gateway API: GatewayClass,
	// Gateway, HTTPRoute and ReferenceGrant.
	GatewayAPI Project = "gateway-api"
	// KORC is K-ORC, the OpenStack Resource Controller: its kinds of the
	// Identity service.
	KORC Project = "k-orc"
)

// All lists every project.
var All = []Project{MariaDB, ExternalSecrets, CertManager, GatewayAPI, KORC}

// source says where the definitions of a project are: files in a directory of
// a Go module.
type source struct {
	module, dir string
	files       []string
}

var sources = map[Project]source{
	MariaDB: {
		"github.com/mariadb-operator/mariadb-operator", "config/crd/bases",
		[]string{
			"k8s.mariadb.com_mariadbs.yaml", "k8s.mariadb.com_databases.yaml",
			"k8s.mariadb.com_users.yaml", "k8s.mariadb.com_grants.yaml",
			"k8s.mariadb.com_backups.yaml", "k8s.mariadb.com_restores.yaml",
		},
	},
	CertManager: {
		"github.com/cert-manager/cert-manager", "deploy/crds",
		[]string{
			"cert-manager.io_certificates.yaml", "cert-manager.io_issuers.yaml",
			"cert-manager.io_clusterissuers.yaml",
		},
	},
	KORC: {
		"github.com/k-orc/openstack-resource-controller/v2", "config/crd/bases",
		[]string{
			"openstack.k-orc.cloud_applicationcredentials.yaml", "openstack.k-orc.cloud_domains.yaml",
			"openstack.k-orc.cloud_endpoints.yaml", "openstack.k-orc.cloud_projects.yaml", "openstack.k-orc.cloud_roles.yaml",
			"openstack.k-orc.cloud_services.yaml", "openstack.k-orc.cloud_users.yaml",
		},
	},
	GatewayAPI: {
		"sigs.k8s.io/gateway-api", "config/crd/standard",
		[]string{
			"gateway.networking.k8s.io_gatewayclasses.yaml", "gateway.networking.k8s.io_gateways.yaml",
			"gateway.networking.k8s.io_httproutes.yaml", "gateway.networking.k8s.io_referencegrants.yaml",
		},
	},
}

// CRDs returns the definitions of the given projects. It downloads their modules if needed.
func CRDs(projects ...Project) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var out []*apiextensionsv1.CustomResourceDefinition
	for _, p := range projects {
		documents, err := read(p)
		if err != nil {
			return nil, fmt.Errorf("read the CRDs of %s: %w", p, err)
		}
		for _, document := range documents {
			crd := &apiextensionsv1.CustomResourceDefinition{}
			if err := yaml.Unmarshal(document, crd); err != nil {
				return nil, fmt.Errorf("parse the CRDs of %s: %w", p, err)
			}
			out = append(out, crd)
		}
	}
	return out, nil
}

// Install adds the kinds of the projects to a running API server and returns
// once they are served.
func Install(t testing.TB, cfg *rest.Config, projects ...Project) {
	t.Helper()
	definitions, err := CRDs(projects...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := envtest.InstallCRDs(cfg, envtest.CRDInstallOptions{CRDs: definitions, MaxTime: expect.Timeout}); err != nil {
		t.Fatalf("install the CRDs of %v: %v", projects, err)
	}
}

// Remove removes the kinds of the projects, along with all their objects, from a
// running API server and returns once they are gone. Objects with finalizers remain
// until something removes the finalizers.
func Remove(t testing.TB, cfg *rest.Config, projects ...Project) {
	t.Helper()
	definitions, err := CRDs(projects...)
	if err != nil {
		t.Fatal(err)
	}
	if err := envtest.UninstallCRDs(cfg, envtest.CRDInstallOptions{CRDs: definitions}); err != nil {
		t.Fatalf("remove the CRDs of %v: %v", projects, err)
	}
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range definitions {
		expect.Gone(t, c, crd)
	}
}

func read(p Project) ([][]byte, error) {
	if p == ExternalSecrets {
		return readEmbedded()
	}
	src, known := sources[p]
	if !known {
		return nil, fmt.Errorf("unknown project %q", p)
	}
	dirs, err := moduleDirs()
	if err != nil {
		return nil, err
	}
	var out [][]byte
	for _, file := range src.files {
		data, err := os.ReadFile(filepath.Join(dirs[src.module], src.dir, file))
		if err != nil {
			return nil, err
		}
		out = append(out, data)
	}
	return out, nil
}

func readEmbedded() ([][]byte, error) {
	entries, err := crds.ReadDir("crds")
	if err != nil {
		return nil, err
	}
	var out [][]byte
	for _, entry := range entries {
		data, err := crds.ReadFile("crds/" + entry.Name())
		if err != nil {
			return nil, err
		}
		out = append(out, data)
	}
	return out, nil
}

// moduleDirs asks the go command, once per process, where the modules of all sources are
// unpacked. It downloads those that nothing has been compiled from yet.
var moduleDirs = sync.OnceValues(func() (map[string]string, error) {
	args := []string{"mod", "download", "-json"}
	for _, src := range sources {
		args = append(args, src.module)
	}
	var stderr bytes.Buffer
	cmd := exec.Command("go", args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go mod download: %w: %s%s", err, stderr.String(), out)
	}
	dirs := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var module struct{ Path, Dir string }
		if err := decoder.Decode(&module); err != nil {
			return nil, fmt.Errorf("output of go mod download: %w", err)
		}
		dirs[module.Path] = module.Dir
	}
	return dirs, nil
})
