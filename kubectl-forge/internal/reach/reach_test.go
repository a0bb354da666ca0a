package reach

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
)

func TestAClusterHostNameIsParsedAsAService(t *testing.T) {
	for host, want := range map[string]string{
		"keystone.openstack.svc.cluster.local":  "openstack/keystone",
		"keystone.openstack.svc.cluster.local.": "openstack/keystone",
		"keystone.openstack.svc":                "openstack/keystone",
		"keystone":                              "here/keystone",
		"keystone.example.com":                  "",
		"svc.example.com":                       "",
		"keystone.openstack":                    "",
		"localhost":                             "",
		"127.0.0.1":                             "",
		"::1":                                   "",
		"":                                      "",
	} {
		name, isInside := inventory.ServiceOf(host, "here")
		if isInside != (want != "") || isInside && name.String() != want {
			t.Errorf("%q: got %s, %t, want %q", host, name, isInside, want)
		}
	}
}

// labels select the pods of the Service.
var labels = map[string]string{"app": "api"}

func pod(name string, ready corev1.ConditionStatus) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "openstack", Name: name, Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Ports: []corev1.ContainerPort{{Name: "api", ContainerPort: 5000}}}}},
		Status:     corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}},
	}
}

func service(name string, selector map[string]string, ports ...corev1.ServicePort) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "openstack", Name: name},
		Spec:       corev1.ServiceSpec{Selector: selector, Ports: ports},
	}
}

// cluster has a Service with two ready pods and one that is not.
func cluster() client.Client {
	return fake.NewClientBuilder().WithObjects(
		pod("api-2", corev1.ConditionTrue), pod("api-0", corev1.ConditionFalse), pod("api-1", corev1.ConditionTrue),
		service("api", labels, corev1.ServicePort{Port: 80, TargetPort: intstr.FromString("api")},
			corev1.ServicePort{Port: 443, TargetPort: intstr.FromInt32(8443)}, corev1.ServicePort{Port: 9000},
			corev1.ServicePort{Port: 7000, TargetPort: intstr.FromString("unknown")}),
		service("external", nil, corev1.ServicePort{Port: 80}),
		service("idle", map[string]string{"app": "idle"}, corev1.ServicePort{Port: 80}),
	).Build()
}

func TestAServicePortIsResolvedToItsReadyPods(t *testing.T) {
	for port, want := range map[int]int32{80: 5000, 443: 8443, 9000: 9000} {
		found, err := New(cluster(), "", nil, nil).targets(t.Context(), types.NamespacedName{Namespace: "openstack", Name: "api"}, port)
		if !slices.Equal(found, []target{{"openstack", "api-1", want}, {"openstack", "api-2", want}}) || err != nil {
			t.Errorf("port %d: got %v, %v, want %d", port, found, err, want)
		}
	}
}

// forwards answer for what is forwarded, and count how often that was asked for.
type forwards map[target]int

func (f forwards) to(address string) Forward {
	return func(_ context.Context, namespace, pod string, port int32) (string, error) {
		f[target{namespace, pod, port}]++
		return address, nil
	}
}

// requested returns the host that the server of a request has seen.
func requested(t *testing.T, c *http.Client, url string) (string, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := c.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

func echo() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Host) })
}

func TestAServiceIsReachedThroughAPortForward(t *testing.T) {
	server := httptest.NewServer(echo())
	t.Cleanup(server.Close)
	asked := forwards{}
	n := New(cluster(), "openstack", asked.to(server.Listener.Addr().String()), nil)
	for _, url := range []string{"http://api.openstack.svc.cluster.local/v3", "http://api/", "http://api.openstack.svc:80"} {
		host, err := requested(t, n.Client(), url)
		if err != nil || !strings.HasPrefix(host, "api") {
			t.Errorf("%s: got %q, %v", url, host, err)
		}
	}
	if _, err := requested(t, n.ClientOf("api-2"), "http://api/"); err != nil {
		t.Error(err)
	}
	want := forwards{{"openstack", "api-1", 5000}: 1, {"openstack", "api-2", 5000}: 1}
	for to, times := range want {
		if asked[to] != times || len(asked) != len(want) {
			t.Errorf("got %v, want %v", asked, want)
		}
	}
}

func TestAServiceThatCannotBeReachedIsNamed(t *testing.T) {
	refusal := errors.New("refused")
	n := New(cluster(), "openstack", func(context.Context, string, string, int32) (string, error) { return "", refusal }, nil)
	for url, want := range map[string]string{
		"http://other.openstack.svc/":  "there is no service other in namespace openstack",
		"http://api:1234/":             "service api in namespace openstack has no port 1234",
		"http://external/":             "service external in namespace openstack selects no pods",
		"http://idle/":                 "no pod of service idle in namespace openstack is ready",
		"http://api:7000/":             "no pod of service api in namespace openstack is ready",
		"http://api/":                  "refused",
		"http://api.elsewhere.svc:80/": "there is no service api in namespace elsewhere",
	} {
		if _, err := requested(t, n.Client(), url); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", url, err, want)
		}
	}
	_, err := requested(t, n.ClientOf("api-0"), "http://api/")
	if err == nil || !strings.Contains(err.Error(), "pod api-0 of service api is not ready") {
		t.Errorf("got %v", err)
	}
}

func TestEverythingElseIsReachedDirectlyAndItsCertificateIsVerified(t *testing.T) {
	server := httptest.NewTLSServer(echo())
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	asked := forwards{}
	if host, err := requested(t, New(cluster(), "openstack", asked.to(""), roots).Client(), server.URL); err != nil || host == "" {
		t.Errorf("got %q, %v", host, err)
	}
	_, err := requested(t, New(cluster(), "openstack", asked.to(""), nil).Client(), server.URL)
	if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); !unknown {
		t.Errorf("got %v, although nobody knows the authority", err)
	}
	if len(asked) > 0 {
		t.Errorf("%v was forwarded", asked)
	}
}

func TestACertificateForAnotherHostIsRefused(t *testing.T) {
	server := httptest.NewTLSServer(echo())
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	n := New(cluster(), "openstack", forwards{}.to(server.Listener.Addr().String()), roots)
	_, err := requested(t, n.Client(), "https://api.openstack.svc/")
	if _, wrong := errors.AsType[x509.HostnameError](err); !wrong {
		t.Errorf("got %v, although the certificate is for another name", err)
	}
}

func TestNoRedirectIsFollowed(t *testing.T) {
	server := httptest.NewServer(http.RedirectHandler("http://127.0.0.1:1/", http.StatusTemporaryRedirect))
	t.Cleanup(server.Close)
	if _, err := requested(t, New(cluster(), "openstack", nil, nil).Client(), server.URL); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestThePodsBehindAURLAreThoseOfItsService(t *testing.T) {
	n := New(cluster(), "openstack", nil, nil)
	for url, want := range map[string]string{
		"http://api.openstack.svc": "api-1 api-2", "https://api": "api-1 api-2", "http://api:9000/v3": "api-1 api-2", "https://example.com": "",
	} {
		pods, err := n.Pods(t.Context(), url)
		if err != nil || strings.Join(pods, " ") != want {
			t.Errorf("%s: got %v, %v", url, pods, err)
		}
	}
	for _, url := range []string{"http://api:1", "http://[::1", "http://api:99999"} {
		if _, err := n.Pods(t.Context(), url); err == nil {
			t.Errorf("%s has pods", url)
		}
	}
}
