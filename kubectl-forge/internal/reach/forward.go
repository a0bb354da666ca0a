package reach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/c5c3/forge/kubectl-forge/internal/kube"
)

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
