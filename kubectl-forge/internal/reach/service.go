package reach

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/kubectl-forge/internal/kube"
)

// ServiceOf returns the Service that a host name stands for inside the cluster: NAME, which is
// in the namespace, or NAME.NAMESPACE.svc with or without the cluster's domain. Every other host
// is outside, as far as its name shows.
func ServiceOf(host, namespace string) (types.NamespacedName, bool) {
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	switch {
	case host == "" || host == "localhost" || net.ParseIP(host) != nil:
		return types.NamespacedName{}, false
	case len(labels) == 1:
		return types.NamespacedName{Namespace: namespace, Name: labels[0]}, true
	case len(labels) >= 3 && labels[2] == "svc":
		return types.NamespacedName{Namespace: labels[1], Name: labels[0]}, true
	}
	return types.NamespacedName{}, false
}

// ReadyPods returns the names of the ready pods with the labels, in order.
func ReadyPods(ctx context.Context, c client.Client, namespace string, labels map[string]string) ([]string, error) {
	pods, err := readyPods(ctx, c, namespace, labels)
	names := make([]string, 0, len(pods))
	for i := range pods {
		names = append(names, pods[i].Name)
	}
	return names, err
}

func readyPods(ctx context.Context, c client.Client, namespace string, labels map[string]string) ([]corev1.Pod, error) {
	var list corev1.PodList
	if err := c.List(ctx, &list, client.InNamespace(namespace), client.MatchingLabels(labels)); err != nil {
		return nil, kube.Explain(err)
	}
	ready := slices.DeleteFunc(list.Items, func(pod corev1.Pod) bool { return !isReady(&pod) })
	slices.SortFunc(ready, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return ready, nil
}

func isReady(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// backend is a port of a pod.
type backend struct {
	pod  string
	port int32
}

// backends returns the ready pods behind a port of a Service, in the order of their names. There is
// at least one.
func backends(ctx context.Context, c client.Client, name types.NamespacedName, port int32) ([]backend, error) {
	service := &corev1.Service{}
	err := c.Get(ctx, name, service)
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("there is no service %s in namespace %s", name.Name, name.Namespace)
	case err != nil:
		return nil, kube.Explain(err)
	case len(service.Spec.Selector) == 0:
		return nil, fmt.Errorf("service %s in namespace %s selects no pods that a port could be forwarded to", name.Name, name.Namespace)
	}
	n := slices.IndexFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == port })
	if n < 0 {
		return nil, fmt.Errorf("service %s in namespace %s has no port %d", name.Name, name.Namespace, port)
	}
	pods, err := readyPods(ctx, c, name.Namespace, service.Spec.Selector)
	if err != nil {
		return nil, err
	}
	var found []backend
	for i := range pods {
		if target := targetPort(&pods[i], service.Spec.Ports[n]); target > 0 {
			found = append(found, backend{pods[i].Name, target})
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no pod of service %s in namespace %s is ready: see \"kubectl forge status -n %s\"",
			name.Name, name.Namespace, name.Namespace)
	}
	return found, nil
}

// targetPort returns the port of the pod that the port of a Service leads to, 0 when it has none of
// that name.
func targetPort(pod *corev1.Pod, port corev1.ServicePort) int32 {
	if port.TargetPort.Type == intstr.Int {
		if port.TargetPort.IntVal == 0 {
			return port.Port
		}
		return port.TargetPort.IntVal
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
