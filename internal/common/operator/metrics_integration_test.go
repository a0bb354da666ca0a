//go:build integration

package operator

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
)

// serviceAccountToken returns a token of a new service account.
func serviceAccountToken(t *testing.T, namespace, name string) string {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	createAll(t, account)
	request := &authenticationv1.TokenRequest{}
	if err := env.Client(t, clientgoscheme.Scheme).SubResource("token").Create(t.Context(), account, request); err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

func TestSecureMetricsRequireAuthorization(t *testing.T) {
	namespace := env.Namespace(t)
	stranger, scraper := serviceAccountToken(t, namespace, "stranger"), serviceAccountToken(t, namespace, "scraper")
	name := metav1.ObjectMeta{Name: namespace + "-scraper"}
	createAll(t,
		&rbacv1.ClusterRole{ObjectMeta: name, Rules: []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: name,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name.Name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "scraper"}},
		},
	)
	address := fmt.Sprintf("localhost:%d", envtest.FreePort(t))
	start(t, namespace, env.Config, watching(&seen{}),
		"--enable-webhooks=false", "--namespace="+namespace, "--metrics-secure", "--metrics-bind-address="+address)

	for _, c := range []struct {
		who, token string
		want       int
	}{
		{"nobody", "", http.StatusUnauthorized},
		// The API server reports such a token as an error, and the filter passes
		// that on.
		{"a forger", "not a token", http.StatusInternalServerError},
		{"a stranger", stranger, http.StatusForbidden},
		{"a scraper", scraper, http.StatusOK},
	} {
		expect.Eventually(t, fmt.Sprintf("%s gets %d", c.who, c.want), func(ctx context.Context) error {
			got, err := scrape(ctx, "https://"+address+"/metrics", c.token)
			if err == nil && got != c.want {
				err = fmt.Errorf("got %d", got)
			}
			return err
		})
	}
	if got, err := scrape(t.Context(), "http://"+address+"/metrics", scraper); err == nil && got == http.StatusOK {
		t.Error("the metrics are served without TLS, too")
	}
}

// scrape returns the status of the response. The server's certificate is
// self-signed.
func scrape(ctx context.Context, url, token string) (int, error) {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, //nolint:gosec // The certificate is self-signed.
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}
