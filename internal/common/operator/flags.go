package operator

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/operator/servingcert"
	"github.com/c5c3/forge/internal/common/operator/startup"
)

// Where the webhook serving certificate comes from.
const (
	certSourceFiles       = "files"
	certSourceSelfManaged = "self-managed"
)

// minCertValidity allows a renewal, which starts when a third of the validity
// is left, several attempts.
const minCertValidity = time.Hour

// serviceAccountNamespace is where the kubelet mounts a pod's own namespace.
const serviceAccountNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// listenNowhere turns a listener of the manager off.
const listenNowhere = "0"

// settings are the parsed flags together with values from the environment.
type settings struct {
	startup.Config
	ignoredNamespaces namespaces

	metricsAddress string
	metricsSecure  bool
	probeAddress   string
	pprofAddress   string
	leaderElect    bool
	// leaseIn is where the Lease is, if not where the operator runs.
	leaseIn string

	webhookPort         int
	webhookCertSource   string
	webhookCertDir      string
	webhookService      string
	webhookCertValidity time.Duration

	zap zap.Options
}

// namespaces is a flag with a list of names.
type namespaces []string

// String returns the names in the format of the flag.
func (n *namespaces) String() string { return strings.Join(*n, ",") }

// Set replaces the names.
func (n *namespaces) Set(text string) error {
	*n = nil
	for name := range strings.SplitSeq(text, ",") {
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			return fmt.Errorf("%q is not a valid name of a namespace: %s", name, problems[0])
		}
		*n = append(*n, name)
	}
	return nil
}

// parse parses the command line, with the flags that bind adds. It returns
// flag.ErrHelp if help was requested, after printing it.
func parse(args []string, bind func(*flag.FlagSet)) (*settings, error) {
	s := &settings{}
	fs := flag.NewFlagSet("manager", flag.ContinueOnError)
	s.bind(fs)
	if bind != nil {
		bind(fs)
	}
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if fs.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q: every setting is a flag, see --help", fs.Arg(0))
	}
	s.OperatorNamespace = operatorNamespace(os.Getenv, serviceAccountNamespace)
	return s, s.validate()
}

func (s *settings) bind(fs *flag.FlagSet) {
	config.RegisterFlags(fs)
	s.zap.BindFlags(fs)
	fs.StringVar(&s.metricsAddress, "metrics-bind-address", ":8080",
		"Address that serves /metrics. 0 turns it off.")
	fs.BoolVar(&s.metricsSecure, "metrics-secure", false,
		"Serve /metrics over HTTPS, and only to clients that the API server authenticates and allows to get it.")
	fs.StringVar(&s.probeAddress, "health-probe-bind-address", ":8081",
		"Address that serves /healthz and /readyz. 0 turns it off.")
	fs.StringVar(&s.pprofAddress, "pprof-bind-address", listenNowhere,
		"Address that serves profiles of this process below /debug/pprof/, to everybody who reaches it, such as localhost:6060. "+
			"0 turns it off.")
	fs.BoolVar(&s.leaderElect, "leader-elect", false,
		"Let only one replica at a time reconcile. Needed with more than one replica.")
	fs.StringVar(&s.Namespace, "namespace", "",
		"The only namespace to watch. Empty means all namespaces.")
	fs.Var(&s.ignoredNamespaces, "ignore-namespaces",
		"Namespaces to leave to an operator of their own, separated by commas.")
	fs.DurationVar(&s.SyncPeriod, "sync-period", 10*time.Minute,
		"How often every object is reconciled without a change. A safety net: progress does not depend on it.")
	fs.IntVar(&s.MaxConcurrentReconciles, "max-concurrent-reconciles", 2,
		"How many objects of a kind are reconciled at the same time.")
	fs.StringVar(&s.Cluster.Name, "cluster-name", "",
		"Prefixes every path in the secret store. Clusters that share a store need different names.")
	fs.StringVar(&s.Cluster.Domain, "cluster-domain", cluster.DefaultDomain,
		"DNS domain of the cluster's Services, as in the configuration of the kubelets.")
	fs.DurationVar(&s.KubeletSyncPeriod, "kubelet-sync-period", startup.DefaultKubeletSyncPeriod,
		"The syncFrequency of the kubelets. A pod may see the previous content of a Secret "+
			"for one and a half times as long plus half a minute: rotations of keys and of credentials wait for that.")
	fs.BoolVar(&s.AllowUnsupportedUpgrades, "allow-unsupported-upgrades", false,
		"For tests: let upgrades skip any number of releases while the old pods serve. OpenStack does not support that.")
	fs.BoolVar(&s.EnableWebhooks, "enable-webhooks", true,
		"Serve admission webhooks. Without them the same rules are checked when an object is reconciled.")
	fs.IntVar(&s.webhookPort, "webhook-port", 9443, "Port of the webhook server.")
	fs.StringVar(&s.webhookCertSource, "webhook-cert-source", certSourceFiles,
		"Where the webhook serving certificate comes from: files reads tls.crt and tls.key from "+
			"--webhook-cert-dir and follows their changes; self-managed issues, publishes and renews it.")
	fs.StringVar(&s.webhookCertDir, "webhook-cert-dir", "/tmp/k8s-webhook-server/serving-certs",
		"Directory of tls.crt and tls.key, for --webhook-cert-source=files.")
	fs.StringVar(&s.webhookService, "webhook-service-name", "",
		"Service in front of the webhook server, for --webhook-cert-source=self-managed. With name <n> the "+
			"certificate is kept in Secret <n>-webhook-cert and published in the webhook configurations "+
			"<n>-mutating and <n>-validating.")
	fs.DurationVar(&s.webhookCertValidity, "webhook-cert-validity", servingcert.DefaultValidity,
		"Validity of a certificate, for --webhook-cert-source=self-managed. It is renewed when a third is left.")
}

// validate reports everything that is wrong with the flags at once.
func (s *settings) validate() error {
	var problems []error
	if s.MaxConcurrentReconciles < 1 {
		problems = append(problems, errors.New("--max-concurrent-reconciles must be at least 1"))
	}
	if s.SyncPeriod <= 0 {
		problems = append(problems, errors.New("--sync-period must be positive"))
	}
	if s.KubeletSyncPeriod <= 0 {
		problems = append(problems, errors.New("--kubelet-sync-period must be positive"))
	}
	if s.Cluster.Name != "" && len(validation.IsDNS1123Label(s.Cluster.Name)) > 0 {
		problems = append(problems, fmt.Errorf("--cluster-name must be empty or a DNS label, not %q", s.Cluster.Name))
	}
	if len(validation.IsDNS1123Subdomain(s.Cluster.Domain)) > 0 {
		problems = append(problems, fmt.Errorf("--cluster-domain must be a DNS subdomain, not %q", s.Cluster.Domain))
	}
	if s.Namespace != "" && len(s.ignoredNamespaces) > 0 {
		problems = append(problems, errors.New("--ignore-namespaces is for an operator of all namespaces: remove it or --namespace"))
	}
	if s.leaderElect && s.leaseNamespace() == "" {
		problems = append(problems, errors.New(
			"--leader-elect outside a cluster needs the environment variable POD_NAMESPACE or --namespace"))
	}
	if s.EnableWebhooks {
		problems = append(problems, s.validateWebhooks()...)
	}
	return errors.Join(problems...)
}

func (s *settings) validateWebhooks() []error {
	switch s.webhookCertSource {
	case certSourceFiles:
		return nil
	case certSourceSelfManaged:
	default:
		return []error{fmt.Errorf("--webhook-cert-source must be %s or %s, not %q",
			certSourceFiles, certSourceSelfManaged, s.webhookCertSource)}
	}
	var problems []error
	if s.webhookService == "" {
		problems = append(problems, errors.New("--webhook-cert-source=self-managed needs --webhook-service-name"))
	}
	if s.OperatorNamespace == "" {
		problems = append(problems, errors.New(
			"--webhook-cert-source=self-managed outside a cluster needs the environment variable POD_NAMESPACE"))
	}
	if s.webhookCertValidity < minCertValidity {
		problems = append(problems, fmt.Errorf("--webhook-cert-validity must be at least %s", minCertValidity))
	}
	return problems
}

// leaseNamespace returns the namespace of the Lease: the one that the replicas run in unless
// another one is set, or the one that they watch if they run outside a cluster.
func (s *settings) leaseNamespace() string {
	return cmp.Or(s.leaseIn, s.OperatorNamespace, s.Namespace)
}

// operatorNamespace determines the namespace that the operator runs in.
func operatorNamespace(getenv func(string) string, file string) string {
	if namespace := getenv("POD_NAMESPACE"); namespace != "" {
		return namespace
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}
