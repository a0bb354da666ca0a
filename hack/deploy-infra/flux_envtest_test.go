//go:build integration && flux

package deployinfra

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/outside"
)

const (
	gatewayAPI = "sigs.k8s.io/gateway-api"
	korc       = "github.com/k-orc/openstack-resource-controller/v2"
)

// tree creates the repository of deploy/flux and the other repositories that it
// refers to, and applies deploy/flux like a user.
func (f *flux) tree(t *testing.T) *repository {
	t.Helper()
	forge := f.repository(t, "forge", map[string]string{"deploy": deploy()})
	gateway := f.repository(t, "gateway-api", map[string]string{
		"config/crd": filepath.Join(moduleDir(t, "custom-resources", gatewayAPI), "config/crd"),
	})
	gateway.tag(t, "v1.1.0")
	resources := f.repository(t, "k-orc", map[string]string{"dist": filepath.Join(moduleDir(t, "k-orc", korc), "dist")})
	resources.tag(t, "v2.6.0")
	texts := map[string]string{
		"https://github.com/c5c3/forge":                          forge.url,
		"https://github.com/kubernetes-sigs/gateway-api":         gateway.url,
		"https://github.com/k-orc/openstack-resource-controller": resources.url,
	}
	for _, resource := range build(t, "flux-system/sources").Resources() {
		address, err := resource.GetString("spec.url")
		if err == nil && resource.GetKind() == "HelmRepository" && strings.HasPrefix(address, "https:") {
			texts[address] = f.url + "/charts"
		}
	}
	forge.replace(t, "deploy/flux", texts)
	forge.replace(t, "deploy/flux-system/sources", texts)
	forge.commit(t)
	forge.tag(t, "v"+version(t))
	for _, resource := range kustomize(t, filepath.Join(forge.dir, "deploy/flux")).Resources() {
		content, err := resource.Map()
		if err != nil {
			t.Fatal(err)
		}
		if err := f.client.Create(t.Context(), &unstructured.Unstructured{Object: content}); err != nil {
			t.Fatal(err)
		}
	}
	return forge
}

func TestFluxDeploysTheTreeStageByStage(t *testing.T) {
	f := startFlux(t, serve(t), "source-controller", "kustomize-controller")
	forge := f.tree(t)

	f.stage(t, "forge-namespaces", metav1.ConditionTrue, "ReconciliationSucceeded")
	f.stage(t, "gateway-api", metav1.ConditionTrue, "ReconciliationSucceeded")
	f.stage(t, "k-orc", metav1.ConditionTrue, "ReconciliationSucceeded")
	f.stage(t, "forge-issuers", metav1.ConditionFalse, "DependencyNotReady")
	releases := f.list(t, helmReleases)
	for i := range releases {
		f.stage(t, "forge-operators", metav1.ConditionUnknown, "Progressing")
		f.reportOf(t, &releases[i], "Ready", metav1.ConditionTrue)
	}
	f.stage(t, "forge-operators", metav1.ConditionTrue, "ReconciliationSucceeded")

	f.report(t, clusterIssuers, "Ready", metav1.ConditionTrue)
	f.report(t, certificates, "Ready", metav1.ConditionTrue)
	f.stage(t, "forge-issuers", metav1.ConditionTrue, "ReconciliationSucceeded")

	f.report(t, memcacheds, "Ready", metav1.ConditionTrue)
	f.stage(t, "forge-cache", metav1.ConditionTrue, "ReconciliationSucceeded")
	f.report(t, gateways, "Programmed", metav1.ConditionTrue)
	f.report(t, certificates, "Ready", metav1.ConditionTrue)
	f.stage(t, "forge-gateway", metav1.ConditionTrue, "ReconciliationSucceeded")

	f.report(t, clusterSecretStores, "Ready", metav1.ConditionFalse)
	f.stage(t, "forge-store", metav1.ConditionFalse, "HealthCheckFailed")
	f.stage(t, "forge-database", metav1.ConditionFalse, "DependencyNotReady")
	if found := f.list(t, mariadbs); len(found) > 0 {
		t.Errorf("there is a database while OpenBao is sealed: %v", found)
	}
	f.report(t, clusterSecretStores, "Ready", metav1.ConditionTrue)
	f.now(t, kustomizeObjects, "forge-store")
	f.stage(t, "forge-store", metav1.ConditionTrue, "ReconciliationSucceeded")
	f.report(t, mariadbs, "Ready", metav1.ConditionTrue)
	f.report(t, externalSecrets, "Ready", metav1.ConditionTrue)
	f.stage(t, "forge-database", metav1.ConditionTrue, "ReconciliationSucceeded")

	t.Run("deploys another tag and no untagged commit", func(t *testing.T) {
		forge.replace(t, "deploy/infrastructure/cache", map[string]string{"replicas: 3": "replicas: 4"})
		forge.commit(t)
		f.now(t, gitRepositories, "forge")
		forge.replace(t, "deploy/infrastructure/cache", map[string]string{"replicas: 4": "replicas: 5"})
		forge.commit(t)
		forge.tag(t, "v99.0.0")
		source := object(gitRepositories, fluxNamespace, "forge")
		next := client.RawPatch(types.MergePatchType, []byte(`{"spec": {"ref": {"tag": "v99.0.0"}}}`))
		if err := f.client.Patch(t.Context(), source, next); err != nil {
			t.Fatal(err)
		}
		cache := object(memcacheds, "openstack", "openstack-memcached")
		expect.Object(t, f.client, cache, func() error {
			replicas, _, err := unstructured.NestedInt64(cache.Object, "spec", "replicas")
			if replicas == 4 {
				t.Error("the commit after the tag is deployed")
			}
			if replicas != 5 || err != nil {
				return fmt.Errorf("%d replicas: %w", replicas, err)
			}
			return nil
		})
		f.report(t, memcacheds, "Ready", metav1.ConditionTrue)
	})
	t.Run("deletion prunes only what holds no data", func(t *testing.T) {
		for _, stage := range []string{"forge-database", "forge-cache", "forge-operators", "forge-namespaces", "gateway-api"} {
			kustomization := object(kustomizeObjects, fluxNamespace, stage)
			if err := f.client.Delete(t.Context(), kustomization); err != nil {
				t.Fatal(err)
			}
			expect.Gone(t, f.client, kustomization)
		}
		expect.Gone(t, f.client, object(memcacheds, "openstack", "openstack-memcached"))
		if left := f.list(t, mariadbs); len(left) != 1 || left[0].GetDeletionTimestamp() != nil {
			t.Errorf("of the database is left: %v", left)
		}
		for _, release := range f.list(t, helmReleases) {
			if release.GetDeletionTimestamp() != nil {
				t.Errorf("the release %s goes, and with it what it has deployed", release.GetName())
			}
		}
		if got := len(f.list(t, helmReleases)); got != len(releases) {
			t.Errorf("%d releases are left of %d", got, len(releases))
		}
		expect.Exists(t, f.client, object(gateways, "openstack", "openstack-gw"))
	})
}

// documented returns the objects in the blocks of a page that are meant for Flux.
func documented(t *testing.T, page string, texts *strings.Replacer) []*unstructured.Unstructured {
	t.Helper()
	content := read(t, outside.File(filepath.Join(root, page)))
	var objects []*unstructured.Unstructured
	for _, block := range regexp.MustCompile("(?s)```yaml third-party=Flux\n(.*?)```").FindAllStringSubmatch(content, -1) {
		objects = append(objects, decode(t, page, texts.Replace(block[1]))...)
	}
	return objects
}

func TestFluxDeploysTheOperatorsAsDocumented(t *testing.T) {
	f := startFlux(t, serve(t), "source-controller", "kustomize-controller", "helm-controller")
	charts := map[string]string{}
	for _, path := range append(operators(t), "shared") {
		folder := filepath.Join("operators", path, "helm")
		charts[folder] = outside.File(filepath.Join(root, folder))
	}
	forge := f.repository(t, "forge", charts)
	forge.tag(t, "v"+version(t))
	fleet := f.repository(t, "fleet", map[string]string{
		"control-planes/namespaces.yaml": filepath.Join(deploy(), "namespaces/namespaces.yaml"),
		// This sample is complete without the webhook, which does not run here.
		"control-planes/controlplane.yaml": outside.File(filepath.Join(root, "operators/c5c3/config/samples/brownfield.yaml")),
	})
	objects := documented(t, "docs/start/flux.md", strings.NewReplacer("https://github.com/c5c3/forge", forge.url))
	source := object(gitRepositories, fluxNamespace, "fleet")
	source.Object["spec"] = map[string]any{"url": fleet.url, "interval": "10m", "ref": map[string]any{"branch": "main"}}
	for _, obj := range append(objects, source) {
		if err := f.client.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	for _, operator := range operators(t) {
		release := object(helmReleases, fluxNamespace, operator+"-operator")
		expect.Condition(t, f.client, release, "Ready", metav1.ConditionTrue, "InstallSucceeded")
	}
	f.dropWebhooks(t)
	f.now(t, kustomizeObjects, "control-planes")

	f.stage(t, "control-planes", metav1.ConditionUnknown, "Progressing")
	f.report(t, controlPlanes, "Ready", metav1.ConditionTrue)
	f.stage(t, "control-planes", metav1.ConditionTrue, "ReconciliationSucceeded")
	f.report(t, controlPlanes, "Stalled", metav1.ConditionTrue)
	f.now(t, kustomizeObjects, "control-planes")
	f.stage(t, "control-planes", metav1.ConditionFalse, "HealthCheckFailed")
}
