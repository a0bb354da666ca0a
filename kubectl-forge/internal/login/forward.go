package login

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/kubectl-forge/internal/kube"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// ReadyPod returns the name of a ready API pod of the Keystone.
func ReadyPod(ctx context.Context, c client.Client, namespace, keystone string) (string, error) {
	var list corev1.PodList
	err := c.List(ctx, &list, client.InNamespace(namespace), client.MatchingLabels(keystonev1alpha1.SelectorLabels(keystone)))
	if err != nil {
		return "", kube.Explain(err)
	}
	for i := range list.Items {
		pod := &list.Items[i]
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue && pod.DeletionTimestamp == nil {
				return pod.Name, nil
			}
		}
	}
	return "", fmt.Errorf("no API pod of Keystone %s is ready: see \"kubectl forge status keystone/%s\"", keystone, keystone)
}

// Forward forwards a free local port to Keystone's API in the pod until the
// context ends, and returns the address of the API there.
func Forward(ctx context.Context, s *kube.Session, namespace, pod string) (address string, err error) {
	dialer, err := newDialer(s, namespace, pod)
	if err != nil {
		return "", err
	}
	ready, ended := make(chan struct{}), make(chan error, 1)
	forwarder, err := portforward.NewOnAddressesForStreamingWithContext(ctx, dialer, []string{"127.0.0.1"},
		[]string{fmt.Sprintf("0:%d", keystonev1alpha1.APIPort)}, ready, io.Discard, io.Discard)
	if err != nil {
		return "", err
	}
	go func() { ended <- forwarder.ForwardPorts() }()
	select {
	case <-ready:
	case <-ctx.Done():
		return "", ctx.Err()
	case err := <-ended:
		return "", fmt.Errorf("forwarding a port to pod %s: %w", pod, errors.Join(kube.Explain(err), ctx.Err()))
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("http://127.0.0.1:%d/v3", ports[0].Local), nil
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
