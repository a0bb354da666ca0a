// Package doctor decides whether a cluster has what the operators need.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
)

// oldestKubernetes is the version from which the charts install (their
// kubeVersion).
const oldestKubernetes = "1.30.0"

const labelName = "app.kubernetes.io/name"

// The names of the findings.
const (
	topicVersion = "Kubernetes"
	topicStore   = "ClusterSecretStore " + secrets.StoreName
	topicDNS     = "DNS"
	topicClass   = "StorageClass"
	topicQuota   = "ResourceQuota"
)

// examination is of a cluster and of the namespace that a ControlPlane or a service is to be in.
type examination struct {
	*kube.Session
	findings []check.Finding
	// served are the versions of the groups that the cluster serves, nil if the user may not see them.
	served map[string][]string
}

// Examine returns the findings about the cluster and the session's namespace. What the user may not read is Unknown.
func Examine(ctx context.Context, s *kube.Session) ([]check.Finding, error) {
	e := &examination{Session: s}
	for _, topic := range []struct {
		name string
		look func(context.Context) error
	}{
		{topicVersion, e.checkVersion},
		{"Kinds", e.checkKinds},
		{"Operators", e.checkOperators},
		{topicStore, e.checkStore},
		{topicDNS, e.checkDNS},
		{topicClass, e.checkStorage},
		{topicQuota, e.checkQuotas},
		{"Permissions", e.checkRights},
	} {
		err := kube.Explain(topic.look(ctx))
		switch {
		case kube.IsMissingRight(err):
			e.add(topic.name, check.Unknown, "%s", err)
		case err != nil:
			return nil, err
		}
	}
	return e.findings, nil
}

func (e *examination) add(name string, result check.Result, format string, args ...any) {
	e.findings = append(e.findings, check.Finding{Name: name, Result: result, Text: fmt.Sprintf(format, args...)})
}

func (e *examination) checkVersion(context.Context) error {
	server, err := e.Discovery.ServerVersion()
	if err != nil {
		return err
	}
	parsed, err := version.ParseGeneric(server.GitVersion)
	switch {
	case err != nil:
		e.add(topicVersion, check.Unknown, "%q cannot be parsed: %s", server.GitVersion, err)
	case parsed.LessThan(version.MustParseGeneric(oldestKubernetes)):
		e.add(topicVersion, check.Failed, "%s is older than %s: upgrade the cluster", server.GitVersion, oldestKubernetes)
	default:
		e.add(topicVersion, check.OK, "%s", server.GitVersion)
	}
	return nil
}

// own are the kinds that can be a target, those of services first.
var own = slices.Concat(inventory.TargetKinds()[1:], inventory.TargetKinds()[:1])

// projects are those of others. Their kinds have to be served in the version, or in any version if it is empty.
var projects = []struct {
	name, group, version, use string
	// controlPlane is set if a ControlPlane requires it.
	controlPlane bool
}{
	{"mariadb-operator", "k8s.mariadb.com", "v1alpha1", "it creates databases for database.clusterRef", true},
	{"memcached operator", "memcached.c5c3.io", "", "it creates the cache of a ControlPlane", true},
	{"External Secrets", "external-secrets.io", "v1", "it delivers Secrets from the secret store and keeps copies of keys there", true},
	{"K-ORC", "openstack.k-orc.cloud", "v1alpha1", "it creates the application credential and the catalog of a ControlPlane", true},
	{"cert-manager", "cert-manager.io", "", "it issues client certificates for database.tls", false},
	{"Gateway API", "gateway.networking.k8s.io", "", "it publishes services with spec.gateway", false},
}

// serves reports whether the cluster serves the group of one of our kinds.
func (e *examination) serves(kind schema.GroupVersionKind) bool { return len(e.served[kind.Group]) > 0 }

func (e *examination) checkKinds(context.Context) error {
	groups, err := e.Discovery.ServerGroups()
	if err != nil {
		return err
	}
	e.served = map[string][]string{}
	for _, group := range groups.Groups {
		for _, served := range group.Versions {
			e.served[group.Name] = append(e.served[group.Name], served.Version)
		}
	}
	for _, kind := range own {
		// Every ControlPlane has a Keystone.
		e.checkGroup(inventory.OperatorOf(kind.Kind), kind.Group, kind.Version, "it runs "+kind.Kind+"s", kind.Kind == inventory.KindKeystone)
	}
	for _, p := range projects {
		e.checkGroup(p.name, p.group, p.version, p.use, p.controlPlane)
	}
	return nil
}

// checkGroup checks whether the kinds of a project are served. What a ControlPlane requires is mandatory only if the
// cluster serves ControlPlanes.
func (e *examination) checkGroup(project, group, wanted, use string, controlPlane bool) {
	name, versions := "Kinds of "+project, e.served[group]
	slices.Sort(versions)
	switch missing := strings.TrimSuffix(group+"/"+wanted, "/"); {
	case len(versions) > 0 && (wanted == "" || slices.Contains(versions, wanted)):
		e.add(name, check.OK, "%s", strings.Join(versions, ", "))
	case controlPlane && e.serves(inventory.TargetKinds()[0]):
		e.add(name, check.Failed, "the cluster does not serve %s: install %s, %s", missing, project, use)
	default:
		e.add(name, check.Warning, "the cluster does not serve %s; install %s if you need it: %s", missing, project, use)
	}
}

// checkOperators also finds what is left of an operator that does not run, if the user may read that. Its webhooks refuse the
// removal of finalizers, too.
func (e *examination) checkOperators(ctx context.Context) error {
	var deployments appsv1.DeploymentList
	if err := e.List(ctx, &deployments, client.HasLabels{labelName}); err != nil {
		return err
	}
	webhooks := map[string]bool{}
	for _, kind := range []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind(kind + "List"))
		if err := e.List(ctx, list, client.HasLabels{labelName}); err != nil && !kube.IsMissingRight(err) {
			return err
		}
		for i := range list.Items {
			webhooks[list.Items[i].Labels[labelName]] = true
		}
	}
	for _, kind := range own {
		app := inventory.OperatorOf(kind.Kind)
		name := "Operator " + app
		i := slices.IndexFunc(deployments.Items, func(d appsv1.Deployment) bool { return d.Labels[labelName] == app })
		switch {
		case i >= 0:
			e.checkOperator(name, &deployments.Items[i])
		case webhooks[app]:
			e.add(name, check.Failed, "it has no Deployment, but its webhooks are left, and refuse every change of a %s: install the "+
				"chart %s again, or delete them: kubectl delete validatingwebhookconfigurations,mutatingwebhookconfigurations "+
				"-l app.kubernetes.io/name=%[2]s", kind.Kind, app)
		case e.serves(kind):
			e.add(name, check.Failed, "it has no Deployment: install the chart %s to use or to delete a %s", app, kind.Kind)
		default:
			e.add(name, check.Warning, "it has no Deployment: install the chart %s to use a %s", app, kind.Kind)
		}
	}
	return nil
}

func (e *examination) checkOperator(name string, d *appsv1.Deployment) {
	if d.Status.ReadyReplicas == 0 {
		e.add(name, check.Failed, "no pod is ready: kubectl -n %s describe deployment %s", d.Namespace, d.Name)
		return
	}
	e.add(name, check.OK, "%d of %d pods ready in namespace %s, %s",
		d.Status.ReadyReplicas, ptr.Deref(d.Spec.Replicas, 1), d.Namespace, d.Spec.Template.Spec.Containers[0].Image)
}

func (e *examination) checkStore(ctx context.Context) error {
	store, err := kube.Store(ctx, e)
	if err != nil {
		return err
	}
	if store == nil {
		e.add(topicStore, check.Warning, "there is none: a ControlPlane that manages its database needs it, "+
			"and a Keystone has no copy of its keys without it")
		return nil
	}
	admitted, err := e.admits(ctx, store)
	switch {
	case err != nil:
		return err
	case !secrets.IsStoreReady(store):
		var messages []string
		for _, condition := range store.Status.Conditions {
			messages = append(messages, condition.Message)
		}
		e.add(topicStore, check.Failed, "it, or %s, is not ready (%s): unseal or repair the secret backend",
			secrets.CheckedStoreName, strings.Join(messages, ", "))
	case !admitted:
		e.add(topicStore, check.Failed, "its spec.conditions do not allow namespace %s to use it", e.Namespace)
	default:
		e.add(topicStore, check.OK, "ready, and namespace %s may use it", e.Namespace)
	}
	return nil
}

// admits reports whether one of the conditions of the store selects the namespace, with External Secrets' semantics. A
// store without conditions admits all namespaces.
func (e *examination) admits(ctx context.Context, store *esov1.ClusterSecretStore) (bool, error) {
	if len(store.Spec.Conditions) == 0 {
		return true, nil
	}
	namespace := &corev1.Namespace{}
	if err := e.Get(ctx, client.ObjectKey{Name: e.Namespace}, namespace); err != nil {
		return false, err
	}
	return slices.ContainsFunc(store.Spec.Conditions, func(c esov1.ClusterSecretStoreCondition) bool {
		selector, err := metav1.LabelSelectorAsSelector(c.NamespaceSelector)
		return slices.Contains(c.Namespaces, e.Namespace) || err == nil && selector.Matches(labels.Set(namespace.Labels)) ||
			slices.ContainsFunc(c.NamespaceRegexes, func(expression string) bool {
				matched, err := regexp.MatchString(expression, e.Namespace)
				return err == nil && matched
			})
	}), nil
}

func (e *examination) checkDNS(ctx context.Context) error {
	var list discoveryv1.EndpointSliceList
	err := e.List(ctx, &list, client.InNamespace("kube-system"), client.MatchingLabels{discoveryv1.LabelServiceName: "kube-dns"})
	serves := slices.ContainsFunc(list.Items, func(slice discoveryv1.EndpointSlice) bool {
		return slices.ContainsFunc(slice.Endpoints, func(e discoveryv1.Endpoint) bool { return ptr.Deref(e.Conditions.Ready, true) })
	})
	switch {
	case err != nil:
		return err
	case serves:
		e.add(topicDNS, check.OK, "the Service kube-dns has ready endpoints")
	default:
		e.add(topicDNS, check.Failed, "the Service kube-dns has no ready endpoint, so names of Services cannot be resolved: "+
			"kubectl -n kube-system get pods -l k8s-app=kube-dns")
	}
	return nil
}

func (e *examination) checkStorage(ctx context.Context) error {
	var classes storagev1.StorageClassList
	err := e.List(ctx, &classes)
	i := slices.IndexFunc(classes.Items, func(class storagev1.StorageClass) bool {
		return class.Annotations["storageclass.kubernetes.io/is-default-class"] == "true"
	})
	switch {
	case err != nil:
		return err
	case i >= 0:
		e.add(topicClass, check.OK, "%s is the default", classes.Items[i].Name)
	default:
		e.add(topicClass, check.Warning, "none is the default: a database that a ControlPlane creates gets no volume")
	}
	return nil
}

// checkQuotas warns about a quota that leaves no room for a pod, since a rollout and
// the Jobs of an upgrade need an additional one.
func (e *examination) checkQuotas(ctx context.Context) error {
	var quotas corev1.ResourceQuotaList
	if err := e.List(ctx, &quotas, client.InNamespace(e.Namespace)); err != nil {
		return err
	}
	for _, quota := range quotas.Items {
		var full []string
		for resource, hard := range quota.Status.Hard {
			name := string(resource)
			counts := name == "pods" || strings.Contains(name, "cpu") || strings.Contains(name, "memory")
			if used, known := quota.Status.Used[resource]; counts && known && used.Cmp(hard) >= 0 {
				full = append(full, fmt.Sprintf("%s (%s of %s)", resource, used.String(), hard.String()))
			}
		}
		if slices.Sort(full); len(full) > 0 {
			e.add(topicQuota, check.Warning, "%s in namespace %s is exhausted: %s; no more pods can start",
				quota.Name, e.Namespace, strings.Join(full, ", "))
		}
	}
	return nil
}

// needs are the permissions that commands need in the namespace, such as "get pods/log". A verb alone is one on
// everything that can be a target.
var needs = []struct{ commands, rights string }{
	{"status, support-bundle", "list; list pods; list events; get pods/log; list jobs.batch; list cronjobs.batch; list deployments.apps"},
	{"wait", "get"},
	{
		"rotate fernet, credential, password",
		"get keystones.keystone.openstack.c5c3.io; get cronjobs.batch; create jobs.batch; get jobs.batch",
	},
	{
		"rotate application-credential", "get controlplanes.c5c3.io; create credentialrotations.c5c3.io; " +
			"get credentialrotations.c5c3.io; delete credentialrotations.c5c3.io",
	},
	{"upgrade", "patch"},
	{"verify", "get secrets; get services; list pods; create pods/portforward"},
	{"verify --tempest", "create jobs.batch; get jobs.batch; list pods; get pods/log"},
	{"login", "get secrets; list pods; create pods/portforward"},
}

// checkRights checks for each command whether the user has its permissions. Nobody needs one on a kind of ours that the
// cluster does not serve.
func (e *examination) checkRights(ctx context.Context) error {
	for _, need := range needs {
		var rights, missing []string
		for text := range strings.SplitSeq(need.rights, "; ") {
			if strings.Contains(text, " ") {
				rights = append(rights, text)
				continue
			}
			for _, kind := range inventory.TargetKinds() {
				plural, _ := meta.UnsafeGuessKindToResource(kind)
				if e.served == nil || e.serves(kind) {
					rights = append(rights, text+" "+plural.GroupResource().String())
				}
			}
		}
		for _, right := range rights {
			err := kube.Require(ctx, e, e.Namespace, right)
			lacking, lacks := errors.AsType[kube.MissingRightError](err)
			switch {
			case lacks:
				missing = append(missing, string(lacking))
			case err != nil:
				return err
			}
		}
		if name := "Permissions for " + need.commands; len(missing) == 0 {
			e.add(name, check.OK, "granted in namespace %s", e.Namespace)
		} else {
			e.add(name, check.Warning, "you may not %s", strings.Join(missing, "; "))
		}
	}
	return nil
}
