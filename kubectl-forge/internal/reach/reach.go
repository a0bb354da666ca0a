// Package reach connects to APIs as far as their names lead: to Services inside the cluster through
// a port forward, to everything else directly.
package reach

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
)

// Timeout bounds one request. An API answers within a second unless something is wrong.
const Timeout = 30 * time.Second

// Network reaches APIs for a user.
type Network struct {
	cluster client.Client
	// namespace is that of Services whose name has none.
	namespace string
	forward   Forward
	roots     *x509.CertPool

	mu sync.Mutex
	// forwarded are the local addresses of what is forwarded.
	forwarded map[target]string
}

// target is a port of a pod.
type target struct {
	namespace, pod string
	port           int32
}

// New returns a Network. Certificates are verified with the roots, or with those of the system if
// there are none.
func New(cluster client.Client, namespace string, forward Forward, roots *x509.CertPool) *Network {
	return &Network{cluster: cluster, namespace: namespace, forward: forward, roots: roots, forwarded: map[target]string{}}
}

// Client returns an HTTP client that reaches every API. It follows no redirects: requests may hold
// secrets.
func (n *Network) Client() *http.Client { return n.ClientOf("") }

// ClientOf returns an HTTP client that reaches Services only through the pod.
func (n *Network) ClientOf(pod string) *http.Client {
	settings := &tls.Config{RootCAs: n.roots, MinVersion: tls.VersionTLS12}
	inside := func(ctx context.Context, _, address string) (net.Conn, error) { return n.dial(ctx, address, pod) }
	return &http.Client{
		Timeout: Timeout,
		Transport: byHost{
			namespace: n.namespace,
			inside:    &http.Transport{DialContext: inside, TLSClientConfig: settings},
			outside:   &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: settings},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// byHost sends the requests for Services and all others in two ways.
type byHost struct {
	namespace       string
	inside, outside *http.Transport
}

// RoundTrip sends the request.
func (b byHost) RoundTrip(request *http.Request) (*http.Response, error) {
	if _, isInside := ServiceOf(request.URL.Hostname(), b.namespace); isInside {
		return b.inside.RoundTrip(request)
	}
	return b.outside.RoundTrip(request)
}

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
	name, isInside := ServiceOf(parsed.Hostname(), n.namespace)
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

// dial connects to a Service through the pod, or through its first ready one.
func (n *Network) dial(ctx context.Context, address, pod string) (net.Conn, error) {
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := net.LookupPort("tcp", service)
	if err != nil {
		return nil, err
	}
	name, _ := ServiceOf(host, n.namespace)
	found, err := n.targets(ctx, name, port)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(found, func(one target) bool { return one.pod == pod || pod == "" })
	if i < 0 {
		return nil, fmt.Errorf("pod %s of service %s is not ready any more", pod, name.Name)
	}
	local, err := n.local(ctx, found[i])
	if err != nil {
		return nil, err
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", local)
}

// local returns the local address that leads to a port of a pod.
func (n *Network) local(ctx context.Context, to target) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if local, known := n.forwarded[to]; known {
		return local, nil
	}
	local, err := n.forward(ctx, to.namespace, to.pod, to.port)
	if err == nil {
		n.forwarded[to] = local
	}
	return local, err
}

// Forward forwards a free local port to a port of a pod, and returns the local address. The
// context bounds how long it may take to begin; the forwarding ends with the lifetime that
// [Through] has been given.
type Forward func(ctx context.Context, namespace, pod string, port int32) (address string, err error)

// Through returns the Forward of a session. Everything that it forwards ends with the lifetime.
func Through(lifetime context.Context, s *kube.Session) Forward {
	return func(ctx context.Context, namespace, pod string, port int32) (string, error) {
		if err := kube.Require(ctx, s, namespace, "create pods/portforward"); err != nil {
			return "", err
		}
		address, err := forward(lifetime, ctx, s, namespace, pod, port)
		if err != nil {
			return "", fmt.Errorf("forwarding a port to pod %s: %w", pod, kube.Explain(err))
		}
		return address, nil
	}
}

func forward(lifetime, ctx context.Context, s *kube.Session, namespace, pod string, port int32) (string, error) {
	dialer, err := newDialer(s, namespace, pod)
	if err != nil {
		return "", err
	}
	forwarding, stop := context.WithCancel(lifetime)
	ready, ended := make(chan struct{}), make(chan error, 1)
	forwarder, err := portforward.NewOnAddressesForStreamingWithContext(forwarding, dialer, []string{"127.0.0.1"},
		[]string{fmt.Sprintf("0:%d", port)}, ready, io.Discard, io.Discard)
	if err != nil {
		stop()
		return "", err
	}
	go func() {
		ended <- forwarder.ForwardPorts()
		stop()
	}()
	select {
	case <-ready:
	case <-ctx.Done():
		stop()
		return "", ctx.Err()
	case err := <-ended:
		return "", errors.Join(err, lifetime.Err())
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		stop()
		return "", err
	}
	return fmt.Sprintf("127.0.0.1:%d", ports[0].Local), nil
}

// newDialer prefers websockets, as kubectl does, and falls back to SPDY, which
// older API servers and proxies support.
func newDialer(s *kube.Session, namespace, pod string) (httpstream.Dialer, error) {
	clientset, err := kubernetes.NewForConfig(s.Config)
	if err != nil {
		return nil, err
	}
	url := clientset.CoreV1().RESTClient().Post().Resource("pods").Namespace(namespace).Name(pod).SubResource("portforward").URL()
	transport, upgrader, err := spdy.RoundTripperFor(s.Config)
	if err != nil {
		return nil, err
	}
	fallback := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, url)
	websocket, err := portforward.NewSPDYOverWebsocketDialerForStreaming(url, s.Config)
	if err != nil {
		return nil, err
	}
	return portforward.NewFallbackDialerForStreaming(websocket, fallback, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	}), nil
}
