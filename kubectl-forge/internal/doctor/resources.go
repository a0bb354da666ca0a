package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/kubectl-forge/internal/check"
)

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
