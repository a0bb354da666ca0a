package reach

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
)

// ReadyPods returns the ready pods with the labels, in the order of their names.
func ReadyPods(ctx context.Context, c client.Client, namespace string, labels map[string]string) ([]corev1.Pod, error) {
	var list corev1.PodList
	if err := c.List(ctx, &list, client.InNamespace(namespace), client.MatchingLabels(labels)); err != nil {
		return nil, err
	}
	ready := slices.DeleteFunc(list.Items, func(pod corev1.Pod) bool { return !inventory.IsReady(&pod) })
	slices.SortFunc(ready, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return ready, nil
}

// targets returns the ready pods behind a port of a Service. There is at least one.
func (n *Network) targets(ctx context.Context, name types.NamespacedName, port int) ([]target, error) {
	service := &corev1.Service{}
	err := n.cluster.Get(ctx, name, service)
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("there is no service %s in namespace %s", name.Name, name.Namespace)
	case err != nil:
		return nil, err
	case len(service.Spec.Selector) == 0:
		return nil, fmt.Errorf("service %s in namespace %s selects no pods that a port could be forwarded to", name.Name, name.Namespace)
	}
	i := slices.IndexFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return int(p.Port) == port })
	if i < 0 {
		return nil, fmt.Errorf("service %s in namespace %s has no port %d", name.Name, name.Namespace, port)
	}
	pods, err := ReadyPods(ctx, n.cluster, name.Namespace, service.Spec.Selector)
	if err != nil {
		return nil, err
	}
	var found []target
	for k := range pods {
		if number := podPort(&pods[k], service.Spec.Ports[i]); number > 0 {
			found = append(found, target{name.Namespace, pods[k].Name, number})
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no pod of service %s in namespace %s is ready: see \"kubectl forge status -n %s\"",
			name.Name, name.Namespace, name.Namespace)
	}
	return found, nil
}

// podPort returns the port of the pod that the port of a Service leads to, 0 when it has none of
// that name.
func podPort(pod *corev1.Pod, port corev1.ServicePort) int32 {
	if port.TargetPort.Type == intstr.Int {
		return cmp.Or(port.TargetPort.IntVal, port.Port)
	}
	for _, container := range pod.Spec.Containers {
		for _, own := range container.Ports {
			if own.Name == port.TargetPort.StrVal {
				return own.ContainerPort
			}
		}
	}
	return 0
}

// Pods returns the names of the ready pods behind a URL, none if it leads out of the cluster.
func (n *Network) Pods(ctx context.Context, address string) (names []string, err error) {
	parsed, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("%q is no URL", address)
	}
	name, isInside := inventory.ServiceOf(parsed.Hostname(), n.namespace)
	if !isInside {
		return nil, nil
	}
	port, err := net.LookupPort("tcp", cmp.Or(parsed.Port(), parsed.Scheme))
	if err != nil {
		return nil, err
	}
	found, err := n.targets(ctx, name, port)
	for _, one := range found {
		names = append(names, one.pod)
	}
	return names, err
}
