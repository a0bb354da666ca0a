// Package kube reads from the cluster and reports which permission is missing if it may
// not. It makes no decisions.
package kube

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
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

// Explaining is a client whose errors went through [Explain].
type Explaining struct{ client.Client }

// Get reads an object.
func (c Explaining) Get(ctx context.Context, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
	return Explain(c.Client.Get(ctx, key, obj, options...))
}

// List reads a list.
func (c Explaining) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return Explain(c.Client.List(ctx, list, options...))
}

// Create creates an object.
func (c Explaining) Create(ctx context.Context, obj client.Object, options ...client.CreateOption) error {
	return Explain(c.Client.Create(ctx, obj, options...))
}

// Patch changes an object.
func (c Explaining) Patch(ctx context.Context, obj client.Object, patch client.Patch, options ...client.PatchOption) error {
	return Explain(c.Client.Patch(ctx, obj, patch, options...))
}

// Delete deletes an object.
func (c Explaining) Delete(ctx context.Context, obj client.Object, options ...client.DeleteOption) error {
	return Explain(c.Client.Delete(ctx, obj, options...))
}

// LogRequest names a part of a container's log.
type LogRequest struct {
	Namespace, Pod, Container string
	// Previous asks for the log of the instance before the last restart.
	Previous bool
	// Lines is how many lines of the end are read.
	Lines int64
}

// LogReader reads the logs of containers.
type LogReader interface {
	Read(ctx context.Context, request LogRequest) (string, error)
}

// maxLogBytes bounds what is read of one container.
const maxLogBytes = 1 << 20

type podLogs struct{ cluster kubernetes.Interface }

// Read returns the end of a log.
func (l podLogs) Read(ctx context.Context, r LogRequest) (string, error) {
	content, err := l.cluster.CoreV1().Pods(r.Namespace).GetLogs(r.Pod, &corev1.PodLogOptions{
		Container: r.Container, Previous: r.Previous, TailLines: &r.Lines, LimitBytes: ptr.To(int64(maxLogBytes)),
	}).DoRaw(ctx)
	return string(content), Explain(err)
}

// MissingRightError is a permission that the user lacks, such as "get pods/log in namespace openstack".
type MissingRightError string

// Error says which permission is missing and who can grant it.
func (e MissingRightError) Error() string {
	return "you may not " + string(e) + "; ask an administrator for that permission"
}

// IsMissingRight reports whether the error is, or wraps, a [MissingRightError].
func IsMissingRight(err error) bool {
	_, missing := errors.AsType[MissingRightError](err)
	return missing
}

// missingRight names a permission as a rule of a Role would. Without a namespace it is one in all of them, or on a
// cluster-scoped resource.
func missingRight(verb, resource, group, namespace string) error {
	text := strings.TrimSuffix(verb+" "+resource+"."+group, ".")
	if namespace == "" {
		return MissingRightError(text + " in the whole cluster")
	}
	return MissingRightError(text + " in namespace " + namespace)
}

// refusal matches what the API server's RBAC authorizer answers
// (https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go).
var refusal = regexp.MustCompile(`cannot (\w+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?`)

// Explain replaces the API server's refusal with one that names the missing permission.
// An admission plugin also answers "forbidden", as for a quota; such an answer
// stays as it is, and so does every other error.
func Explain(err error) error {
	if err == nil || IsMissingRight(err) || !apierrors.IsForbidden(err) {
		return err
	}
	if parts := refusal.FindStringSubmatch(err.Error()); parts != nil {
		return missingRight(parts[1], parts[2], parts[3], parts[4])
	}
	return err
}

// Temporary reports whether the request may succeed if it is retried: the API
// server restarts, is busy, or the connection to it is interrupted.
func Temporary(err error) bool {
	return apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err) ||
		utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err) || utilnet.IsTimeout(err)
}

// Require returns a [MissingRightError] if the user lacks a permission such as "get pods/log" or "create jobs.batch" in the
// namespace. Every authenticated user may ask for that.
func Require(ctx context.Context, c client.Client, namespace, right string) error {
	verb, resource, _ := strings.Cut(right, " ")
	resource, group, _ := strings.Cut(resource, ".")
	name, subresource, _ := strings.Cut(resource, "/")
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: verb, Resource: name, Subresource: subresource, Group: group, Namespace: namespace,
		},
	}}
	err := c.Create(ctx, review)
	switch {
	case err != nil:
		return fmt.Errorf("checking whether you may %s: %w", right, err)
	case !review.Status.Allowed:
		return missingRight(verb, resource, group, namespace)
	}
	return nil
}
