// Package collect reads the facts that package doctor checks.
package collect

import (
	"context"
	"errors"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/kubectl-forge/internal/doctor"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
)

// Facts reads the facts about the cluster and the session's namespace.
// What the user may not read is recorded as hidden and is not an error.
func Facts(ctx context.Context, s *kube.Session) (doctor.Facts, error) {
	c := &collector{Session: s, facts: doctor.Facts{
		Namespace: s.Namespace, Hidden: map[doctor.Topic]error{}, Rights: map[kube.Right]bool{},
		Served: map[schema.GroupKind][]string{},
	}}
	for _, step := range []func(context.Context) error{
		c.version, c.kinds, c.operators, c.store, c.dns, c.storage, c.quotas, c.rights,
	} {
		if err := step(ctx); err != nil {
			return doctor.Facts{}, err
		}
	}
	return c.facts, nil
}

type collector struct {
	*kube.Session
	facts doctor.Facts
}

// hide records that something may not be read. It returns every other error.
func (c *collector) hide(topic doctor.Topic, err error) error {
	var missing *kube.MissingRightError
	if err = kube.Explain(err); errors.As(err, &missing) {
		c.facts.Hidden[topic] = err
		return nil
	}
	return err
}

func (c *collector) version(context.Context) error {
	version, err := c.Discovery.ServerVersion()
	if err != nil {
		return c.hide(doctor.TopicVersion, err)
	}
	c.facts.Version = version.GitVersion
	return nil
}

func (c *collector) kinds(context.Context) error {
	for _, kind := range doctor.Kinds() {
		mappings, err := c.RESTMapper().RESTMappings(kind)
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return c.hide(doctor.TopicKinds, err)
		}
		for _, mapping := range mappings {
			c.facts.Served[kind] = append(c.facts.Served[kind], mapping.GroupVersionKind.Version)
		}
	}
	return nil
}

func (c *collector) operators(ctx context.Context) error {
	wanted, err := labels.NewRequirement("app.kubernetes.io/name", selection.In, doctor.OperatorApps())
	if err != nil {
		return err
	}
	var list appsv1.DeploymentList
	if err := c.List(ctx, &list, client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*wanted)}); err != nil {
		return c.hide(doctor.TopicOperators, err)
	}
	c.facts.Operators = list.Items
	return c.webhooks(ctx, client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*wanted)})
}

// webhooks finds the operators whose webhooks are registered, if the user may read that.
func (c *collector) webhooks(ctx context.Context, ours client.MatchingLabelsSelector) error {
	for _, kind := range []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind(kind + "List"))
		err := kube.Explain(c.List(ctx, list, ours))
		var missing *kube.MissingRightError
		if err != nil && !errors.As(err, &missing) {
			return err
		}
		for i := range list.Items {
			c.facts.Webhooks = append(c.facts.Webhooks, list.Items[i].Labels["app.kubernetes.io/name"])
		}
	}
	return nil
}

func (c *collector) store(ctx context.Context) error {
	store, err := kube.Store(ctx, c.Session)
	if err != nil {
		return c.hide(doctor.TopicStore, err)
	}
	c.facts.Store = store
	if store == nil {
		return nil
	}
	// Without conditions it is for all namespaces, whatever their labels.
	if conditions, _, err := unstructured.NestedSlice(store.Object, "spec", "conditions"); err == nil && len(conditions) == 0 {
		return nil
	}
	namespace := &corev1.Namespace{}
	if err := c.Get(ctx, client.ObjectKey{Name: c.Namespace}, namespace); err != nil {
		return c.hide(doctor.TopicStore, err)
	}
	c.facts.NamespaceLabels = namespace.Labels
	return nil
}

func (c *collector) dns(ctx context.Context) error {
	var list discoveryv1.EndpointSliceList
	err := c.List(ctx, &list, client.InNamespace("kube-system"), client.MatchingLabels{discoveryv1.LabelServiceName: "kube-dns"})
	c.facts.DNS = list.Items
	return c.hide(doctor.TopicDNS, err)
}

func (c *collector) storage(ctx context.Context) error {
	var list storagev1.StorageClassList
	err := c.List(ctx, &list)
	c.facts.StorageClasses = list.Items
	return c.hide(doctor.TopicStorageClasses, err)
}

func (c *collector) quotas(ctx context.Context) error {
	var list corev1.ResourceQuotaList
	err := c.List(ctx, &list, client.InNamespace(c.Namespace))
	c.facts.Quotas = list.Items
	return c.hide(doctor.TopicQuotas, err)
}

func (c *collector) rights(ctx context.Context) error {
	for _, right := range doctor.AllRights(c.Namespace) {
		allowed, err := kube.May(ctx, c.Client, right)
		if err != nil {
			return err
		}
		c.facts.Rights[right] = allowed
	}
	return nil
}
