package operator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/operator/startup"
)

func TestDefaultsAreTheDocumentedOnes(t *testing.T) {
	t.Setenv("POD_NAMESPACE", "keystone-system")
	s, err := parse(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := *s
	got.zap.Level, got.zap.Encoder, got.zap.StacktraceLevel = nil, nil, nil
	if got.zap.Development {
		t.Error("logs are for development, want JSON for production")
	}
	want := settings{
		Config: startup.Config{
			OperatorNamespace:       "keystone-system",
			MaxConcurrentReconciles: 2,
			EnableWebhooks:          true,
			SyncPeriod:              10 * time.Minute,
			KubeletSyncPeriod:       time.Minute,
			Cluster:                 cluster.Settings{Domain: "cluster.local"},
		},
		metricsAddress:      ":8080",
		probeAddress:        ":8081",
		pprofAddress:        "0",
		webhookPort:         9443,
		webhookCertSource:   "files",
		webhookCertDir:      "/tmp/k8s-webhook-server/serving-certs",
		webhookCertValidity: 90 * 24 * time.Hour,
	}
	if diff := cmp.Diff(want.byFlag(), got.byFlag()); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
}

// byFlag returns the settings by flag name, so that a difference reads like a
// command line.
func (s *settings) byFlag() map[string]any {
	return map[string]any{
		"metrics-bind-address":       s.metricsAddress,
		"metrics-secure":             s.metricsSecure,
		"health-probe-bind-address":  s.probeAddress,
		"pprof-bind-address":         s.pprofAddress,
		"leader-elect":               s.leaderElect,
		"namespace":                  s.Namespace,
		"ignore-namespaces":          s.ignoredNamespaces.String(),
		"sync-period":                s.SyncPeriod,
		"kubelet-sync-period":        s.KubeletSyncPeriod,
		"cluster-name":               s.Cluster.Name,
		"cluster-domain":             s.Cluster.Domain,
		"max-concurrent-reconciles":  s.MaxConcurrentReconciles,
		"allow-unsupported-upgrades": s.AllowUnsupportedUpgrades,
		"enable-webhooks":            s.EnableWebhooks,
		"webhook-port":               s.webhookPort,
		"webhook-cert-source":        s.webhookCertSource,
		"webhook-cert-dir":           s.webhookCertDir,
		"webhook-service-name":       s.webhookService,
		"webhook-cert-validity":      s.webhookCertValidity,
		"POD_NAMESPACE":              s.OperatorNamespace,
	}
}

func TestCommandLinesThatCannotWorkAreRefusedWithTheReason(t *testing.T) {
	cases := map[string]struct {
		args         []string
		podNamespace string
		want         string
	}{
		"unknown flag":                 {[]string{"--leader-elected"}, "", "flag provided but not defined"},
		"argument":                     {[]string{"run"}, "", `unexpected argument "run"`},
		"no workers":                   {[]string{"--max-concurrent-reconciles=0"}, "", "--max-concurrent-reconciles must be at least 1"},
		"no sync period of kubelets":   {[]string{"--kubelet-sync-period=0s"}, "", "--kubelet-sync-period must be positive"},
		"no sync period":               {[]string{"--sync-period=0s"}, "", "--sync-period must be positive"},
		"no name of a cluster":         {[]string{"--cluster-name=East_1"}, "", "--cluster-name must be empty or a DNS label"},
		"a path for a cluster":         {[]string{"--cluster-name=east/1"}, "", "--cluster-name must be empty or a DNS label"},
		"no domain":                    {[]string{"--cluster-domain="}, "", "--cluster-domain must be a DNS subdomain"},
		"a domain with a dot too many": {[]string{"--cluster-domain=.cluster.local"}, "", "--cluster-domain must be a DNS subdomain"},
		"no namespace":                 {[]string{"--ignore-namespaces=a,,b"}, "", "is not a valid name of a namespace"},
		"one and not one": {
			[]string{"--namespace=a", "--ignore-namespaces=b"}, "", "--ignore-namespaces is for an operator of all namespaces",
		},
		"nowhere for the Lease": {[]string{"--leader-elect"}, "", "needs the environment variable POD_NAMESPACE or --namespace"},
		"unknown source":        {[]string{"--webhook-cert-source=vault"}, "", "must be files or self-managed"},
		"certificate for nothing": {
			[]string{"--webhook-cert-source=self-managed"}, "operators", "needs --webhook-service-name",
		},
		"certificate nowhere": {
			[]string{"--webhook-cert-source=self-managed", "--webhook-service-name=a"}, "", "needs the environment variable POD_NAMESPACE",
		},
		"certificate too short-lived": {
			[]string{"--webhook-cert-source=self-managed", "--webhook-service-name=a", "--webhook-cert-validity=10m"},
			"operators", "--webhook-cert-validity must be at least 1h",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("POD_NAMESPACE", c.podNamespace)
			_, err := parse(c.args, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestWebhookSettingsDoNotMatterWithoutWebhooks(t *testing.T) {
	if _, err := parse([]string{"--enable-webhooks=false", "--webhook-cert-source=self-managed"}, nil); err != nil {
		t.Error(err)
	}
}

func TestALeaderOutsideTheClusterUsesTheWatchedNamespace(t *testing.T) {
	t.Setenv("POD_NAMESPACE", "")
	s, err := parse([]string{"--leader-elect", "--namespace=team-a"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.leaseNamespace(); got != "team-a" {
		t.Errorf("Lease in namespace %q, want team-a", got)
	}
}

func TestTheOperatorsNamespaceComesFromTheEnvironmentThenFromTheServiceAccount(t *testing.T) {
	file := filepath.Join(t.TempDir(), "namespace")
	if err := os.WriteFile(file, []byte("from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := func(value string) func(string) string { return func(string) string { return value } }
	cases := map[string]struct{ env, file, want string }{
		"both":    {"from-env", file, "from-env"},
		"file":    {"", file, "from-file"},
		"neither": {"", file + ".missing", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := operatorNamespace(env(c.env), c.file); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
