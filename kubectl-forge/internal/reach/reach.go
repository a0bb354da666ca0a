// Package reach connects to APIs as far as their names lead: to Services inside the cluster through
// a port forward, to everything else directly.
package reach

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
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
	if _, isInside := inventory.ServiceOf(request.URL.Hostname(), b.namespace); isInside {
		return b.inside.RoundTrip(request)
	}
	return b.outside.RoundTrip(request)
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
	name, _ := inventory.ServiceOf(host, n.namespace)
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
