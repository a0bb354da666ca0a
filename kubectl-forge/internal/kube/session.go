// Package kube reads from the cluster and reports which permission is missing if it may
// not. It makes no decisions.
package kube

import (
	"errors"
	"fmt"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// Session is how a command reaches the cluster. The errors of its client name the
// permission that the user lacks.
type Session struct {
	client.Client

	// Namespace is the one of the command line or of the kubeconfig's context.
	Namespace string
	// Config is needed for what the client cannot do, such as port forwarding.
	Config *rest.Config
	// Logs reads the logs of containers.
	Logs LogReader
	// Discovery knows the kinds and the version of the cluster.
	Discovery discovery.DiscoveryInterface
}

// Scheme has the built-in kinds and those of the operators.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(clientgoscheme.AddToScheme, c5c3v1alpha1.AddToScheme, esov1.AddToScheme)
	for _, kind := range inventory.ServiceKinds {
		builder.Register(kind.AddToScheme)
	}
	return scheme, builder.AddToScheme(scheme)
}

// unconfigured is the API server of client-go when nothing names one.
const unconfigured = "http://localhost:8080"

// Open returns a session for the cluster and the namespace that the flags name.
func Open(flags genericclioptions.RESTClientGetter) (*Session, error) {
	config, err := flags.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("%w; set KUBECONFIG or --kubeconfig to a cluster that you can reach", err)
	}
	loader := flags.ToRawKubeConfigLoader()
	if raw, err := loader.RawConfig(); err == nil && api.IsConfigEmpty(&raw) && config.Host == unconfigured {
		return nil, errors.New("there is no kubeconfig: set KUBECONFIG or --kubeconfig to the one of your cluster")
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, err
	}
	return NewSession(config, namespace)
}

// NewSession returns a session with the permissions of the configuration.
func NewSession(config *rest.Config, namespace string) (*Session, error) {
	config = rest.CopyConfig(config)
	// The API server limits its clients itself.
	config.QPS = -1
	scheme, err := Scheme()
	if err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("cannot reach the cluster: %w", err)
	}
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &Session{
		Client: Explaining{c}, Namespace: namespace, Config: config, Logs: podLogs{clientset}, Discovery: clientset.Discovery(),
	}, nil
}
