package doctor

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/testutil/golden"
	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
)

func store(conditions []any, ready string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "external-secrets.io/v1", "kind": "ClusterSecretStore", "metadata": map[string]any{"name": "openbao-cluster-store"},
		"spec": map[string]any{"conditions": conditions},
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": "Ready", "status": ready, "reason": "X", "message": "it is sealed",
		}}},
	}}
}

// healthy are the facts of a cluster that has everything.
func healthy() Facts {
	f := Facts{
		Namespace: "openstack", Version: "v1.37.1", Served: map[schema.GroupKind][]string{},
		NamespaceLabels: map[string]string{"team": "identity"}, Store: store(nil, "True"),
		DNS: []discoveryv1.EndpointSlice{{Endpoints: []discoveryv1.Endpoint{{
			Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(true)},
		}}}},
		StorageClasses: []storagev1.StorageClass{{ObjectMeta: metav1.ObjectMeta{
			Name: "local-path", Annotations: map[string]string{defaultClass: "true"},
		}}},
		Rights: map[kube.Right]bool{}, Hidden: map[Topic]error{},
	}
	for _, p := range projects {
		for _, kind := range p.kinds {
			f.Served[kind] = []string{p.version}
		}
	}
	for _, right := range AllRights(f.Namespace) {
		f.Rights[right] = true
	}
	for _, app := range OperatorApps() {
		operator := appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
			Namespace: app + "-system", Name: app, Labels: map[string]string{"app.kubernetes.io/name": app},
		}}
		operator.Status.ReadyReplicas = 1
		operator.Spec.Template.Spec.Containers = []corev1.Container{{Image: "ghcr.io/c5c3/" + app + ":0.1.0"}}
		f.Operators = append(f.Operators, operator)
	}
	return f
}

func text(findings []check.Finding) string {
	var out strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&out, "%s | %s | %s\n", f.Result, f.Name, f.Text)
	}
	return out.String()
}

func TestACompleteClusterIsFine(t *testing.T) {
	findings := Examine(healthy())
	golden.Compare(t, "healthy.txt", text(findings))
	for _, f := range findings {
		if f.Result != check.OK {
			t.Errorf("%s is %s", f.Name, f.Result)
		}
	}
}

func TestEachGapIsFoundByItsCheck(t *testing.T) {
	full := corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "small"}, Status: corev1.ResourceQuotaStatus{
		Hard: corev1.ResourceList{"pods": resource.MustParse("4"), "services": resource.MustParse("1")},
		Used: corev1.ResourceList{"pods": resource.MustParse("4"), "services": resource.MustParse("1")},
	}}
	tests := []struct {
		name   string
		change func(*Facts)
		topic  string
		result check.Result
		want   string
	}{
		{"an old cluster", func(f *Facts) { f.Version = "v1.29.4" }, "Kubernetes", check.Failed, "older than 1.30.0"},
		{"a version of its own", func(f *Facts) { f.Version = "weird" }, "Kubernetes", check.Unknown, "cannot be parsed"},
		{"no K-ORC", func(f *Facts) {
			for kind := range f.Served {
				if kind.Group == "openstack.k-orc.cloud" {
					delete(f.Served, kind)
				}
			}
		}, "Kinds of K-ORC", check.Failed, "does not serve ApplicationCredential, Domain"},
		{"another version", func(f *Facts) {
			f.Served[inventory.ServiceKindOf(inventory.KindKeystone).GroupKind()] = []string{"v1"}
		}, "Kinds of Keystone operator", check.Failed, "in version v1alpha1"},
		{"no cert-manager", func(f *Facts) {
			delete(f.Served, schema.GroupKind{Group: "cert-manager.io", Kind: "Certificate"})
		}, "Kinds of cert-manager", check.Warning, "if you need it"},
		{"no operator", func(f *Facts) { f.Operators = nil }, "Operator keystone-operator", check.Failed, "install the chart"},
		{
			"webhooks of an operator that is gone", func(f *Facts) { f.Operators, f.Webhooks = nil, []string{"placement-operator"} },
			"Operator placement-operator", check.Failed, "refuse every change of a Placement",
		},
		{
			"an operator that does not run", func(f *Facts) { f.Operators[0].Status.ReadyReplicas = 0 },
			"Operator ", check.Failed, "no pod is ready",
		},
		{"no store", func(f *Facts) { f.Store = nil }, "ClusterSecretStore", check.Warning, "there is none"},
		{"a sealed store", func(f *Facts) { f.Store = store(nil, "False") }, "ClusterSecretStore", check.Failed, "it is sealed"},
		{
			"a store of others", func(f *Facts) { f.Store = store([]any{map[string]any{"namespaces": []any{"others"}}}, "True") },
			"ClusterSecretStore", check.Failed, "do not allow namespace openstack to use it",
		},
		{"a store by labels", func(f *Facts) {
			f.Store = store([]any{map[string]any{"namespaceSelector": map[string]any{"matchLabels": map[string]any{"team": "identity"}}}}, "True")
		}, "ClusterSecretStore", check.OK, "may use it"},
		{"a store by an expression", func(f *Facts) {
			f.Store = store([]any{map[string]any{"namespaceRegexes": []any{"^open"}}}, "True")
		}, "ClusterSecretStore", check.OK, "may use it"},
		{"no DNS", func(f *Facts) { f.DNS[0].Endpoints[0].Conditions.Ready = ptr.To(false) }, "DNS", check.Failed, "no ready endpoint"},
		{"no default class", func(f *Facts) { f.StorageClasses = nil }, "StorageClass", check.Warning, "none is the default"},
		{"a full quota", func(f *Facts) { f.Quotas = []corev1.ResourceQuota{full} }, "ResourceQuota", check.Warning, "exhausted: pods (4 of 4);"},
		{"a missing right", func(f *Facts) {
			delete(f.Rights, kube.Right{Verb: "create", Resource: "jobs", Group: "batch", Namespace: "openstack"})
		}, "Permissions for rotate fernet", check.Warning, "you may not create jobs.batch in namespace openstack"},
		{
			"something hidden", func(f *Facts) {
				f.Hidden[TopicDNS] = &kube.MissingRightError{Right: kube.Right{Verb: "list", Resource: "endpointslices"}}
			},
			"DNS", check.Unknown, "you may not list endpointslices",
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			f := healthy()
			tc.change(&f)
			for _, found := range Examine(f) {
				if strings.HasPrefix(found.Name, tc.topic) && found.Result == tc.result && strings.Contains(found.Text, tc.want) {
					return
				}
			}
			t.Errorf("no finding %s | %s | %s in\n%s", tc.result, tc.topic, tc.want, text(Examine(f)))
		})
	}
}

func TestWhatOnlyAControlPlaneNeedsIsNoFailureWithoutThem(t *testing.T) {
	f := healthy()
	for kind := range f.Served {
		if kind != inventory.ServiceKindOf(inventory.KindKeystone).GroupKind() {
			delete(f.Served, kind)
		}
	}
	f.Operators = f.Operators[:0]
	f.Operators = append(f.Operators, healthyOperator("keystone-operator"))
	if findings := Examine(f); check.AnyFailed(findings) {
		t.Errorf("got\n%s", text(findings))
	}
}

func healthyOperator(app string) appsv1.Deployment {
	for _, operator := range healthy().Operators {
		if operator.Name == app {
			return operator
		}
	}
	return appsv1.Deployment{}
}

func TestPermissionsOnKindsThatAreNotInstalledAreNotMissed(t *testing.T) {
	f := healthy()
	for _, right := range AllRights(f.Namespace) {
		f.Rights[right] = right.Resource != "placements"
	}
	if !strings.Contains(text(f.checkRights()), "you may not list placements") {
		t.Errorf("got\n%s", text(f.checkRights()))
	}
	delete(f.Served, inventory.ServiceKindOf(inventory.KindPlacement).GroupKind())
	if strings.Contains(text(f.checkRights()), "placements") {
		t.Errorf("got\n%s", text(f.checkRights()))
	}
}
