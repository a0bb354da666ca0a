package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/testutil/golden"
	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
)

// cluster is what a test examines.
type cluster struct {
	discovery.DiscoveryInterface

	version string
	// served is the version in which each kind is served.
	served    map[schema.GroupKind]string
	operators []*appsv1.Deployment
	store     *esov1.ClusterSecretStore
	dns       *discoveryv1.EndpointSlice
	objects   []client.Object
	// denied are the permissions that the user lacks, such as "create jobs.batch", and hidden the kind that may not be listed.
	denied, hidden string
	// failure is that of the discovery.
	failure error
}

func (c *cluster) ServerVersion() (*version.Info, error) {
	return &version.Info{GitVersion: c.version}, nil
}

func (c *cluster) ServerGroupsAndResources() ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	var lists []*metav1.APIResourceList
	for kind, version := range c.served {
		lists = append(lists, &metav1.APIResourceList{
			GroupVersion: kind.Group + "/" + version, APIResources: []metav1.APIResource{{Kind: kind.Kind}, {Kind: kind.Kind}},
		})
	}
	return nil, lists, c.failure
}

// forgetGroup makes the cluster serve no kind of the group.
func (c *cluster) forgetGroup(group string) {
	for kind := range c.served {
		if kind.Group == group {
			delete(c.served, kind)
		}
	}
}

func named(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

func operator(app string) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: named(app+"-system", app)}
	d.Labels, d.Status.ReadyReplicas = map[string]string{labelName: app}, 1
	d.Spec.Template.Spec.Containers = []corev1.Container{{Image: "ghcr.io/c5c3/" + app + ":0.1.0"}}
	return d
}

// common is the program that runs the operators of the services.
func common(services string) *appsv1.Deployment {
	d := operator(inventory.CommonOperator)
	d.Spec.Template.Spec.Containers[0].Args = []string{"--leader-elect", "--services=" + services}
	return d
}

// healthy is a cluster that has everything.
func healthy() *cluster {
	c := &cluster{version: "v1.37.1", served: map[schema.GroupKind]string{}}
	c.store = &esov1.ClusterSecretStore{ObjectMeta: named("", "openbao-cluster-store")}
	c.store.Status.Conditions = []esov1.SecretStoreStatusCondition{{
		Type: esov1.SecretStoreReady, Status: corev1.ConditionTrue, Message: "it is sealed",
	}}
	c.dns = &discoveryv1.EndpointSlice{
		ObjectMeta: named("kube-system", "kube-dns-x"),
		Endpoints:  []discoveryv1.Endpoint{{Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(true)}}},
	}
	c.dns.Labels = map[string]string{discoveryv1.LabelServiceName: "kube-dns"}
	class := &storagev1.StorageClass{ObjectMeta: named("", "local-path")}
	class.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
	namespace := &corev1.Namespace{ObjectMeta: named("", "openstack")}
	namespace.Labels = map[string]string{"team": "identity"}
	c.objects = []client.Object{class, namespace}
	for _, p := range projects {
		for _, kind := range p.kinds {
			c.served[kind] = p.version
		}
	}
	for _, kind := range own {
		c.operators = append(c.operators, operator(inventory.OperatorOf(kind.Kind)))
	}
	return c
}

// forget removes the objects of the type.
func forget[T client.Object](c *cluster) {
	c.objects = slices.DeleteFunc(c.objects, func(obj client.Object) bool {
		_, is := obj.(T)
		return is
	})
}

// session is that of a user in the cluster.
func (c *cluster) session(t *testing.T) *kube.Session {
	t.Helper()
	scheme, err := kube.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	objects := append([]client.Object{c.dns}, c.objects...)
	for _, d := range c.operators {
		objects = append(objects, d)
	}
	if c.store != nil {
		objects = append(objects, c.store)
	}
	fakes := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, obj client.Object, _ ...client.CreateOption) error {
			review := obj.(*authorizationv1.SelfSubjectAccessReview)
			asked := review.Spec.ResourceAttributes
			text := strings.TrimSuffix(fmt.Sprintf("%s %s.%s", asked.Verb, asked.Resource, asked.Group), ".")
			review.Status.Allowed = text != c.denied
			return nil
		},
		List: func(ctx context.Context, w client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if c.hidden != "" && strings.Contains(fmt.Sprintf("%T", list), c.hidden) {
				return apierrors.NewForbidden(schema.GroupResource{}, "", errors.New(
					`User "eve" cannot list resource "endpointslices" in API group "discovery.k8s.io" in the namespace "kube-system"`))
			}
			return w.List(ctx, list, options...)
		},
	}).Build()
	return &kube.Session{Client: kube.Explaining{Client: fakes}, Namespace: "openstack", Discovery: c}
}

func (c *cluster) examine(t *testing.T) []check.Finding {
	t.Helper()
	findings, err := Examine(t.Context(), c.session(t))
	if err != nil {
		t.Fatal(err)
	}
	return findings
}

func text(findings []check.Finding) string {
	var out strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&out, "%s | %s | %s\n", f.Result, f.Name, f.Text)
	}
	return out.String()
}

func TestACompleteClusterIsFine(t *testing.T) {
	findings := healthy().examine(t)
	golden.Compare(t, "healthy.txt", text(findings))
	for _, f := range findings {
		if f.Result != check.OK {
			t.Errorf("%s is %s", f.Name, f.Result)
		}
	}
}

func TestEachGapIsFoundByItsCheck(t *testing.T) {
	only := func(condition esov1.ClusterSecretStoreCondition) func(*cluster) {
		return func(c *cluster) { c.store.Spec.Conditions = []esov1.ClusterSecretStoreCondition{condition} }
	}
	tests := []struct {
		name   string
		change func(*cluster)
		topic  string
		result check.Result
		want   string
	}{
		{"an old cluster", func(c *cluster) { c.version = "v1.29.4" }, "Kubernetes", check.Failed, "older than 1.30.0"},
		{"a version of its own", func(c *cluster) { c.version = "weird" }, "Kubernetes", check.Unknown, "cannot be parsed"},
		{
			"no K-ORC", func(c *cluster) { c.forgetGroup("openstack.k-orc.cloud") }, "Kinds of K-ORC", check.Failed,
			"does not serve ApplicationCredential, Domain, User, Service, Endpoint, Project, Role in version v1alpha1: install K-ORC",
		},
		{
			"a K-ORC of an old release", func(c *cluster) {
				delete(c.served, schema.GroupKind{Group: "openstack.k-orc.cloud", Kind: "ApplicationCredential"})
			}, "Kinds of K-ORC", check.Failed, "does not serve ApplicationCredential in version v1alpha1: install K-ORC",
		},
		{
			"another version", func(c *cluster) {
				c.served[inventory.ServiceKindOf(inventory.KindKeystone).GroupKind()] = "v1"
			}, "Kinds of Keystone operator", check.Failed, "does not serve Keystone in version v1alpha1",
		},
		{
			"no cert-manager", func(c *cluster) { c.forgetGroup("cert-manager.io") }, "Kinds of cert-manager", check.Warning,
			"if you need it",
		},
		{"no operator", func(c *cluster) { c.operators = nil }, "Operator keystone-operator", check.Failed, "install the chart"},
		{
			"webhooks of an operator that is gone", func(c *cluster) {
				left := &admissionv1.MutatingWebhookConfiguration{ObjectMeta: named("", "left")}
				left.Labels = map[string]string{labelName: "placement-operator"}
				c.operators, c.objects = nil, append(c.objects, left)
			},
			"Operator placement-operator", check.Failed, "refuse every change of a Placement",
		},
		{
			"an operator in the program of all services", func(c *cluster) { c.operators = []*appsv1.Deployment{common("keystone,placement")} },
			"Operator placement-operator", check.OK, "1 of 1 pods ready in namespace openstack-operator-system",
		},
		{
			"a program of all services without that operator", func(c *cluster) { c.operators = []*appsv1.Deployment{common("keystone")} },
			"Operator placement-operator", check.Failed, "it has no Deployment",
		},
		{
			"webhooks of a program of all services that is gone", func(c *cluster) {
				left := &admissionv1.MutatingWebhookConfiguration{ObjectMeta: named("", "left")}
				left.Labels = map[string]string{labelName: "openstack-operator"}
				c.operators, c.objects = nil, append(c.objects, left)
			},
			"Operator glance-operator", check.Failed, "-l app.kubernetes.io/name=openstack-operator",
		},
		{
			"an operator that does not run", func(c *cluster) { c.operators[0].Status.ReadyReplicas = 0 },
			"Operator ", check.Failed, "no pod is ready",
		},
		{"no store", func(c *cluster) { c.store = nil }, "ClusterSecretStore", check.Warning, "there is none"},
		{
			"a sealed store", func(c *cluster) { c.store.Status.Conditions[0].Status = corev1.ConditionFalse },
			"ClusterSecretStore", check.Failed, "it is sealed",
		},
		{
			"a store for other namespaces", only(esov1.ClusterSecretStoreCondition{Namespaces: []string{"others"}}),
			"ClusterSecretStore", check.Failed, "do not allow namespace openstack to use it",
		},
		{
			"a store by labels", only(esov1.ClusterSecretStoreCondition{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "identity"}},
			}), "ClusterSecretStore", check.OK, "may use it",
		},
		{
			"a store by an expression", only(esov1.ClusterSecretStoreCondition{NamespaceRegexes: []string{"^open"}}),
			"ClusterSecretStore", check.OK, "may use it",
		},
		{"no DNS", func(c *cluster) { c.dns.Endpoints[0].Conditions.Ready = ptr.To(false) }, "DNS", check.Failed, "no ready endpoint"},
		{"no default class", forget[*storagev1.StorageClass], "StorageClass", check.Warning, "none is the default"},
		{"a full quota", func(c *cluster) {
			four := corev1.ResourceList{"pods": resource.MustParse("4"), "services": resource.MustParse("1")}
			c.objects = append(c.objects, &corev1.ResourceQuota{
				ObjectMeta: named("openstack", "small"), Status: corev1.ResourceQuotaStatus{Hard: four, Used: four},
			})
		}, "ResourceQuota", check.Warning, "exhausted: pods (4 of 4);"},
		{
			"a missing right", func(c *cluster) { c.denied = "create jobs.batch" }, "Permissions for rotate fernet", check.Warning,
			"you may not create jobs.batch in namespace openstack",
		},
		{
			"something hidden", func(c *cluster) { c.hidden = "EndpointSliceList" }, "DNS", check.Unknown,
			"you may not list endpointslices.discovery.k8s.io in namespace kube-system",
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			c := healthy()
			tc.change(c)
			findings := c.examine(t)
			if !slices.ContainsFunc(findings, func(f check.Finding) bool {
				return strings.HasPrefix(f.Name, tc.topic) && f.Result == tc.result && strings.Contains(f.Text, tc.want)
			}) {
				t.Errorf("no finding %s | %s | %s in\n%s", tc.result, tc.topic, tc.want, text(findings))
			}
		})
	}
}

func TestControlPlaneRequirementsAreOptionalWithoutControlPlanes(t *testing.T) {
	c := healthy()
	c.served = map[schema.GroupKind]string{inventory.ServiceKindOf(inventory.KindKeystone).GroupKind(): "v1alpha1"}
	c.operators = []*appsv1.Deployment{operator("keystone-operator")}
	if findings := c.examine(t); check.AnyFailed(findings) {
		t.Errorf("got\n%s", text(findings))
	}
}

func TestPermissionsOnUninstalledKindsAreNotRequired(t *testing.T) {
	c := healthy()
	c.denied = "list placements.placement.openstack.c5c3.io"
	if found := text(c.examine(t)); !strings.Contains(found, "you may not list placements") {
		t.Errorf("got\n%s", found)
	}
	c.forgetGroup("placement.openstack.c5c3.io")
	if found := text(c.examine(t)); strings.Contains(found, "you may not list placements") {
		t.Errorf("got\n%s", found)
	}
}

func TestAnAPIOfAnotherServerThatIsDownHidesNothing(t *testing.T) {
	c := healthy()
	c.failure = &discovery.ErrGroupDiscoveryFailed{Groups: map[schema.GroupVersion]error{
		{Group: "metrics.k8s.io", Version: "v1beta1"}: errors.New("the server is currently unable to handle the request"),
	}}
	if findings := c.examine(t); check.AnyFailed(findings) {
		t.Errorf("got\n%s", text(findings))
	}
}
