// Package reach connects to APIs as far as their names lead: to Services inside the cluster through
// a port forward, to everything else directly.
package reach

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

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
	namespace string
	backend
}

// New returns a Network. Certificates are verified with the roots, or with those of the system if
// there are none.
func New(cluster client.Client, namespace string, forward Forward, roots *x509.CertPool) *Network {
	return &Network{cluster: cluster, namespace: namespace, forward: forward, roots: roots, forwarded: map[target]string{}}
}

// Client returns an HTTP client that reaches every API. It follows no redirects: requests may hold
// secrets.
func (n *Network) Client() *http.Client { return n.client("") }

// ClientOf returns an HTTP client that reaches Services only through the pod.
func (n *Network) ClientOf(pod string) *http.Client { return n.client(pod) }

func (n *Network) client(pod string) *http.Client {
	settings := &tls.Config{RootCAs: n.roots, MinVersion: tls.VersionTLS12}
	inside := func(ctx context.Context, _, address string) (net.Conn, error) { return n.dial(ctx, address, pod) }
	return &http.Client{
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

// Pods returns the names of the ready pods behind a URL, none if it leads out of the cluster.
func (n *Network) Pods(ctx context.Context, address string) ([]string, error) {
	parsed, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("%q is no URL", address)
	}
	name, isInside := ServiceOf(parsed.Hostname(), n.namespace)
	if !isInside {
		return nil, nil
	}
	port := cmp.Or(parsed.Port(), "80")
	if parsed.Scheme == "https" {
		port = cmp.Or(parsed.Port(), "443")
	}
	number, err := portNumber(port)
	if err != nil {
		return nil, err
	}
	found, err := backends(ctx, n.cluster, name, number)
	names := make([]string, 0, len(found))
	for _, one := range found {
		names = append(names, one.pod)
	}
	return names, err
}

func portNumber(text string) (int32, error) {
	number, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("%q is no port", text)
	}
	return int32(number), nil
}

// dial connects to a Service through the pod, or through its first ready one.
func (n *Network) dial(ctx context.Context, address, pod string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	number, err := portNumber(port)
	if err != nil {
		return nil, err
	}
	local, err := n.local(ctx, host, number, pod)
	if err != nil {
		return nil, err
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", local)
}

// local returns the local address that leads to a port of a Service.
func (n *Network) local(ctx context.Context, host string, port int32, pod string) (string, error) {
	name, _ := ServiceOf(host, n.namespace)
	found, err := backends(ctx, n.cluster, name, port)
	if err != nil {
		return "", err
	}
	chosen := found[0]
	for _, one := range found {
		if one.pod == pod {
			chosen = one
		}
	}
	if pod != "" && chosen.pod != pod {
		return "", fmt.Errorf("pod %s of service %s is not ready any more", pod, name.Name)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	key := target{name.Namespace, chosen}
	if local, known := n.forwarded[key]; known {
		return local, nil
	}
	local, err := n.forward(ctx, name.Namespace, chosen.pod, chosen.port)
	if err == nil {
		n.forwarded[key] = local
	}
	return local, err
}
