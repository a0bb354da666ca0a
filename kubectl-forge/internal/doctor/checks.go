package doctor

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
)

// oldestKubernetes is the version from which the charts install (their
// kubeVersion).
const oldestKubernetes = "1.30.0"

// Examine returns the findings about the cluster.
func Examine(f Facts) []check.Finding {
	findings := []check.Finding{f.checkVersion()}
	findings = append(findings, f.checkKinds()...)
	findings = append(findings, f.checkOperators()...)
	findings = append(findings, f.checkStore(), f.checkDNS(), f.checkStorage())
	findings = append(findings, f.checkQuotas()...)
	return append(findings, f.checkRights()...)
}

func (f Facts) checkVersion() check.Finding {
	if found, isHidden := f.hidden(TopicVersion); isHidden {
		return found
	}
	parsed, err := version.ParseGeneric(f.Version)
	switch {
	case err != nil:
		return finding(TopicVersion, check.Unknown, "%q cannot be parsed: %s", f.Version, err)
	case parsed.LessThan(version.MustParseGeneric(oldestKubernetes)):
		return finding(TopicVersion, check.Failed, "%s is older than %s: upgrade the cluster", f.Version, oldestKubernetes)
	}
	return finding(TopicVersion, check.OK, "%s", f.Version)
}

// OperatorApps returns the names under which the charts install the operators.
func OperatorApps() []string {
	apps := make([]string, 0, len(inventory.ServiceKinds)+1)
	for _, kind := range inventory.ServiceKinds {
		apps = append(apps, kind.Operator())
	}
	return append(apps, controlPlaneOperator)
}

const controlPlaneOperator = "c5c3-operator"

// kindOf returns the kind that needs the operator.
func kindOf(app string) string {
	for _, kind := range inventory.ServiceKinds {
		if kind.Operator() == app {
			return kind.Kind
		}
	}
	return inventory.KindControlPlane
}

func (f Facts) checkOperators() []check.Finding {
	if found, isHidden := f.hidden(TopicOperators); isHidden {
		return []check.Finding{found}
	}
	var findings []check.Finding
	for _, app := range OperatorApps() {
		findings = append(findings, f.checkOperator(app))
	}
	return findings
}

func (f Facts) checkOperator(app string) check.Finding {
	topic := Topic("Operator " + app)
	i := slices.IndexFunc(f.Operators, func(d appsv1.Deployment) bool { return d.Labels["app.kubernetes.io/name"] == app })
	if i < 0 {
		return f.checkMissingOperator(topic, app)
	}
	d := &f.Operators[i]
	ready, wanted := d.Status.ReadyReplicas, ptr.Deref(d.Spec.Replicas, 1)
	if ready == 0 {
		return finding(topic, check.Failed, "no pod is ready: kubectl -n %s describe deployment %s", d.Namespace, d.Name)
	}
	return finding(topic, check.OK, "%d of %d pods ready in namespace %s, %s", ready, wanted, d.Namespace, images(d))
}

// checkMissingOperator checks what is left of an operator that does not run. Its webhooks
// refuse the removal of finalizers, too.
func (f Facts) checkMissingOperator(topic Topic, app string) check.Finding {
	kind := kindOf(app)
	switch {
	case slices.Contains(f.Webhooks, app):
		return finding(topic, check.Failed, "it has no Deployment, but its webhooks are left, and refuse every change of a %s: install the "+
			"chart %s again, or delete them: kubectl delete validatingwebhookconfigurations,mutatingwebhookconfigurations "+
			"-l app.kubernetes.io/name=%[2]s", kind, app)
	case f.serves(kind):
		return finding(topic, check.Failed, "it has no Deployment: install the chart %s to use or to delete a %s", app, kind)
	}
	return finding(topic, check.Warning, "it has no Deployment: install the chart %s to use a %s", app, kind)
}

func images(d *appsv1.Deployment) string {
	names := make([]string, 0, len(d.Spec.Template.Spec.Containers))
	for _, container := range d.Spec.Template.Spec.Containers {
		names = append(names, container.Image)
	}
	return strings.Join(names, ", ")
}

func (f Facts) checkStore() check.Finding {
	if found, isHidden := f.hidden(TopicStore); isHidden {
		return found
	}
	if f.Store == nil {
		return finding(TopicStore, check.Warning, "there is none: a ControlPlane that manages its database needs it, "+
			"and a Keystone has no copy of its keys without it")
	}
	store := &esov1.ClusterSecretStore{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(f.Store.Object, store); err != nil {
		return finding(TopicStore, check.Unknown, "it cannot be parsed: %s", err)
	}
	if !secrets.IsStoreReady(store) {
		return finding(TopicStore, check.Failed, "it, or %s, is not ready%s: unseal or repair the secret backend",
			secrets.CheckedStoreName, storeMessage(store))
	}
	if !f.admitted(store) {
		return finding(TopicStore, check.Failed, "its spec.conditions do not allow namespace %s to use it", f.Namespace)
	}
	return finding(TopicStore, check.OK, "ready, and namespace %s may use it", f.Namespace)
}

func storeMessage(store *esov1.ClusterSecretStore) string {
	for _, condition := range store.Status.Conditions {
		if condition.Type == esov1.SecretStoreReady && condition.Message != "" {
			return " (" + condition.Message + ")"
		}
	}
	return ""
}

// admitted reports whether one of the conditions of the store selects the
// namespace. A store without conditions admits all namespaces.
func (f Facts) admitted(store *esov1.ClusterSecretStore) bool {
	if len(store.Spec.Conditions) == 0 {
		return true
	}
	for _, condition := range store.Spec.Conditions {
		if slices.Contains(condition.Namespaces, f.Namespace) {
			return true
		}
		selector, err := metav1.LabelSelectorAsSelector(condition.NamespaceSelector)
		if err == nil && condition.NamespaceSelector != nil && selector.Matches(labels.Set(f.NamespaceLabels)) {
			return true
		}
		for _, expression := range condition.NamespaceRegexes {
			if matches(expression, f.Namespace) {
				return true
			}
		}
	}
	return false
}

func (f Facts) checkDNS() check.Finding {
	if found, isHidden := f.hidden(TopicDNS); isHidden {
		return found
	}
	for i := range f.DNS {
		for _, endpoint := range f.DNS[i].Endpoints {
			if ptr.Deref(endpoint.Conditions.Ready, true) {
				return finding(TopicDNS, check.OK, "the Service kube-dns has ready endpoints")
			}
		}
	}
	return finding(TopicDNS, check.Failed, "the Service kube-dns has no ready endpoint, so names of Services cannot be resolved: "+
		"kubectl -n kube-system get pods -l k8s-app=kube-dns")
}

const defaultClass = "storageclass.kubernetes.io/is-default-class"

func (f Facts) checkStorage() check.Finding {
	if found, isHidden := f.hidden(TopicStorageClasses); isHidden {
		return found
	}
	for i := range f.StorageClasses {
		if f.StorageClasses[i].Annotations[defaultClass] == "true" {
			return finding(TopicStorageClasses, check.OK, "%s is the default", f.StorageClasses[i].Name)
		}
	}
	return finding(TopicStorageClasses, check.Warning, "none is the default: a database that a ControlPlane creates gets no volume")
}

// checkQuotas warns about a quota that leaves no room for a pod, since a rollout and
// the Jobs of an upgrade need an additional one.
func (f Facts) checkQuotas() []check.Finding {
	if found, isHidden := f.hidden(TopicQuotas); isHidden {
		return []check.Finding{found}
	}
	var findings []check.Finding
	for i := range f.Quotas {
		quota := &f.Quotas[i]
		var full []string
		for resource, hard := range quota.Status.Hard {
			if used, known := quota.Status.Used[resource]; known && used.Cmp(hard) >= 0 && countsForPods(resource) {
				full = append(full, fmt.Sprintf("%s (%s of %s)", resource, used.String(), hard.String()))
			}
		}
		if slices.Sort(full); len(full) > 0 {
			findings = append(findings, finding(TopicQuotas, check.Warning, "%s in namespace %s is exhausted: %s; no more pods can start",
				quota.Name, f.Namespace, strings.Join(full, ", ")))
		}
	}
	return findings
}

func countsForPods(resource corev1.ResourceName) bool {
	text := string(resource)
	return text == "pods" || strings.Contains(text, "cpu") || strings.Contains(text, "memory")
}

// matches reports whether the whole text matches the expression, with External
// Secrets' semantics. An expression that cannot be compiled matches nothing.
func matches(expression, text string) bool {
	compiled, err := regexp.Compile(expression)
	return err == nil && compiled.MatchString(text)
}
