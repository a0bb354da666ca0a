package deployinfra

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/c5c3/forge/internal/common/testutil/outside"
)

const root = "../.."

// deploy is the folder with all manifests.
func deploy() string { return outside.File(filepath.Join(root, "deploy")) }

// kustomizations returns the folders that Kustomize builds, relative to deploy.
func kustomizations(t *testing.T) []string {
	t.Helper()
	var folders []string
	err := filepath.WalkDir(deploy(), func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Name() == "kustomization.yaml" {
			folder, _ := filepath.Rel(deploy(), filepath.Dir(path))
			folders = append(folders, folder)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return folders
}

func build(t *testing.T, folder string) resmap.ResMap {
	t.Helper()
	return kustomize(t, filepath.Join(deploy(), folder))
}

func kustomize(t *testing.T, path string) resmap.ResMap {
	t.Helper()
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), path)
	if err != nil {
		t.Fatalf("build %s: %v", path, err)
	}
	return objects
}

func TestEveryKustomizationBuilds(t *testing.T) {
	folders := kustomizations(t)
	if len(folders) < 10 {
		t.Fatalf("found only %v", folders)
	}
	for _, folder := range folders {
		if objects := build(t, folder); objects.Size() == 0 {
			t.Errorf("deploy/%s is empty", folder)
		}
	}
}

// unlisted are manifests that scripts or users apply directly.
var unlisted = map[string]bool{
	"controlplane/controlplane.yaml":       true,
	"controlplane/directory.yaml":          true,
	"controlplane/services/barbican.yaml":  true,
	"controlplane/services/glance.yaml":    true,
	"controlplane/services/horizon.yaml":   true,
	"controlplane/services/placement.yaml": true,
	"flux-system/fluxinstance.yaml":        true,
	"infra/external-secrets/values.yaml":   true,
	"infra/mariadb-operator/values.yaml":   true,
	"infra/metrics-server/values.yaml":     true,
	"infra/traefik/gateway.yaml":           true,
}

func TestEveryManifestBelongsToAKustomization(t *testing.T) {
	err := filepath.WalkDir(deploy(), func(path string, entry os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" || entry.Name() == "kustomization.yaml" {
			return err
		}
		list, err := os.ReadFile(filepath.Join(filepath.Dir(path), "kustomization.yaml"))
		name, _ := filepath.Rel(deploy(), path)
		switch listed := err == nil && strings.Contains(string(list), entry.Name()); {
		case listed && unlisted[name]:
			t.Errorf("deploy/%s is in a Kustomization", name)
		case !listed && !unlisted[name]:
			t.Errorf("deploy/%s is in no Kustomization", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
