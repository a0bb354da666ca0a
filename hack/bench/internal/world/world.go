// Package world is the cluster that the bench measures in: a real API server with
// the garbage collector, stand-ins for everything else, and Keystones that answer
// requests. What differs from one operator to another is declared in an [operators.Operator].
package world

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/hack/bench/internal/audit"
	"github.com/c5c3/forge/hack/bench/internal/machine"
	"github.com/c5c3/forge/hack/bench/internal/operators"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	"github.com/c5c3/forge/internal/common/testutil/thirdparty"
)

// auditPolicy logs only the requests of the operator's user: recording all others would
// slow the API server down.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  users: [%s]
- level: None
`

// Options say where a World finds and stores its files.
type Options struct {
	// Root is the top of the checkout, Dir a folder of the World's own.
	Root, Dir string
	// Operator is the one that is measured.
	Operator *operators.Operator
}

// World is a running cluster.
type World struct {
	// Client has all permissions, and reads from the API server itself.
	Client client.Client
	// Resources knows the state of all resources of the operator.
	Resources *Tracker
	// Audit counts the operator's requests.
	Audit *audit.Log
	// Standins can be made to fail.
	Standins *operators.Standins

	options  Options
	operator *operators.Operator

	administrator *rest.Config
	user          *rest.Config
	apiServer     int
	etcd          int
	closers       []func() error
}

// Open starts a World. It has to be closed even if ctx has ended.
func Open(ctx context.Context, o Options) (*World, error) {
	w := newWorld(o)
	if err := w.open(ctx); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

func newWorld(o Options) *World {
	return &World{options: o, operator: o.Operator, Standins: operators.NewStandins()}
}

func (w *World) open(ctx context.Context) error {
	if err := w.startServer(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	w.onClose(func() error { cancel(); return nil })
	stopServices, err := serve(ctx, w.operator.Answer(w.Standins), w.operator.Ports)
	if err != nil {
		return err
	}
	w.onClose(stopServices)
	if w.Resources, err = track(ctx, w.administrator, w.operator); err != nil {
		return err
	}
	if err := w.createStore(ctx); err != nil {
		return err
	}
	home := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.operator.Namespace()}}
	if err := w.Client.Create(ctx, home); err != nil {
		return err
	}
	return standin.Run(ctx, w.administrator, w.operator.Controllers(w.Standins)...)
}

// startServer starts the API server and follows its audit log.
func (w *World) startServer(ctx context.Context) error {
	env, err := w.openServer()
	if err != nil {
		return err
	}
	w.administrator = env.Config
	if w.Client, err = env.NewClient(w.operator.Scheme()); err != nil {
		return err
	}
	user := w.operator.Program()
	rules, err := w.rules()
	if err != nil {
		return err
	}
	if w.user, err = env.User(ctx, user, rules); err != nil {
		return err
	}
	return w.follow(user)
}

// leases are the permissions of an operator that takes part in an election.
const leases = `- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [get, create, update]
`

// rules returns a file with the operator's permissions.
func (w *World) rules() (path string, err error) {
	pattern := filepath.Join(w.options.Root, "operators", w.operator.Name, "helm", w.operator.Program(), w.operator.Rules)
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		return "", errors.Join(fmt.Errorf("find the permissions of the operator in %s", pattern), err)
	}
	content := []byte(leases)
	for _, file := range files {
		read, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		content = append(content, read...)
	}
	path = w.file("rbac-rules.yaml")
	return path, os.WriteFile(path, content, 0o600)
}

// follow opens the audit log of a user and finds the servers whose usage is measured.
func (w *World) follow(user string) (err error) {
	if w.Audit, err = audit.Open(w.file("audit.log"), user); err != nil {
		return err
	}
	w.onClose(w.Audit.Close)
	if w.apiServer, err = machine.Child("kube-apiserver"); err != nil {
		return err
	}
	w.etcd, err = machine.Child("etcd")
	return err
}

// openServer starts the API server with an empty audit log: it would append to that of an
// earlier run.
func (w *World) openServer() (*envtest.Env, error) {
	user := w.operator.Program()
	for name, content := range map[string]string{"audit-policy.yaml": fmt.Sprintf(auditPolicy, user), "audit.log": ""} {
		if err := os.WriteFile(w.file(name), []byte(content), 0o600); err != nil {
			return nil, err
		}
	}
	definitions, err := w.definitions()
	if err != nil {
		return nil, err
	}
	env, stop, err := envtest.Open(envtest.Options{
		CRDs:             definitions,
		ThirdParty:       thirdparty.All,
		GarbageCollector: true,
		Complete:         true,
		Users:            []string{user},
		Flags: map[string]string{
			"audit-policy-file": w.file("audit-policy.yaml"), "audit-log-path": w.file("audit.log"),
			// In MiB. A log that is rotated is not followed.
			"audit-log-maxsize": "100000",
		},
	})
	if err != nil {
		return nil, err
	}
	w.onClose(stop)
	return env, nil
}

func (w *World) definitions() ([]string, error) {
	var paths []string
	for _, pattern := range w.operator.CRDs {
		found, err := filepath.Glob(filepath.Join(w.options.Root, pattern))
		if err != nil {
			return nil, fmt.Errorf("CRDs of %s: %w", w.operator.Name, err)
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("CRDs of %s: no file or folder is called %s", w.operator.Name, pattern)
		}
		paths = append(paths, found...)
	}
	return paths, nil
}

func (w *World) createStore(ctx context.Context) error {
	return w.Client.Create(ctx, &esov1.ClusterSecretStore{
		ObjectMeta: metav1.ObjectMeta{Name: secrets.StoreName},
		Spec:       esov1.SecretStoreSpec{Provider: &esov1.SecretStoreProvider{Fake: &esov1.FakeProvider{Data: []esov1.FakeProviderData{}}}},
	})
}

// Usage returns the resource usage of the API server and etcd.
func (w *World) Usage() (apiServer, etcd machine.Usage, err error) {
	apiServer, errServer := machine.UsageOf(w.apiServer)
	etcd, errEtcd := machine.UsageOf(w.etcd)
	return apiServer, etcd, errors.Join(errServer, errEtcd)
}

func (w *World) file(name string) string { return filepath.Join(w.options.Dir, name) }

func (w *World) onClose(do func() error) { w.closers = append(w.closers, do) }

// Close stops everything, in reverse order of starting.
func (w *World) Close() error {
	var errs []error
	for len(w.closers) > 0 {
		last := len(w.closers) - 1
		errs = append(errs, w.closers[last]())
		w.closers = w.closers[:last]
	}
	return errors.Join(errs...)
}
