package operator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/c5c3/forge/internal/common/operator/definitions"
)

// absentInterval is how often an operator that is left out looks for its kinds.
const absentInterval = 5 * time.Second

// member is an operator of a group, in the process that runs it.
type member struct {
	operator Options
	settings *settings
	config   *rest.Config
	// check is that of its caches. Before it has any, it is one that says why.
	check atomic.Pointer[healthz.Checker]
}

// newMember returns the operator with settings of its own: what listens belongs to the process.
func newMember(one choice, shared *settings, config *rest.Config) *member {
	s := *shared
	s.metricsAddress, s.probeAddress, s.pprofAddress = listenNowhere, listenNowhere, listenNowhere
	s.leaseIn = one.leaseIn
	m := &member{operator: one.Options, settings: &s, config: config}
	m.report(func(*http.Request) error { return errors.New("it is not set up yet") })
	return m
}

func (m *member) report(check healthz.Checker) { m.check.Store(&check) }

func (m *member) ready(request *http.Request) error { return (*m.check.Load())(request) }

// run runs the operator from when its kinds are installed. It is left out until then: an operator
// whose caches never fill would end the process.
func (m *member) run(ctx context.Context, host ctrl.Manager) error {
	if err := m.awaitKinds(ctx); err != nil {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // It is asked to stop.
		}
		return err
	}
	mgr, err := m.setUp(ctx, host)
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func (m *member) setUp(ctx context.Context, host ctrl.Manager) (ctrl.Manager, error) {
	options := managerOptions(m.operator, m.settings, &servingCertificate{})
	if m.settings.EnableWebhooks {
		options.WebhookServer = hosted{host.GetWebhookServer()}
	}
	mgr, caches, err := setUp(ctx, m.operator, m.settings, m.config, options)
	if err != nil {
		return nil, err
	}
	if m.settings.EnableWebhooks && m.operator.Webhooks != nil {
		if err := m.operator.Webhooks(mgr, m.settings.Config); err != nil {
			return nil, fmt.Errorf("set up its webhooks: %w", err)
		}
	}
	m.report(caches.check)
	return mgr, nil
}

// hosted is the server of the webhooks, which the host starts and stops.
type hosted struct{ webhook.Server }

// Start returns when the manager stops.
func (hosted) Start(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// awaitKinds returns when the API server serves all kinds of the operator.
func (m *member) awaitKinds(ctx context.Context) error {
	if m.operator.Definitions == nil {
		return nil
	}
	wanted, err := definitions.Read(m.operator.Definitions)
	if err != nil {
		return err
	}
	client, err := discovery.NewDiscoveryClientForConfig(m.config)
	if err != nil {
		return fmt.Errorf("look for its kinds: %w", err)
	}
	logger := ctrl.Log.WithValues("operator", m.operator.Name)
	known := ""
	return wait.PollUntilContextCancel(ctx, absentInterval, true, func(context.Context) (bool, error) {
		missing, err := absent(client, wanted)
		switch {
		case err != nil:
			logger.Error(err, "cannot look for its kinds")
		case missing == "":
			return true, nil
		case missing != known:
			logger.Info("left out until its definitions are installed", "missing", missing)
			known = missing
			m.report(healthz.Ping)
		}
		return false, nil
	})
}

// absent returns the name of a definition that the API server does not serve, "" if it serves all.
func absent(client discovery.DiscoveryInterface, wanted []*apiextensionsv1.CustomResourceDefinition) (string, error) {
	for _, definition := range wanted {
		for _, version := range definition.Spec.Versions {
			group := schema.GroupVersion{Group: definition.Spec.Group, Version: version.Name}
			served, err := client.ServerResourcesForGroupVersion(group.String())
			if apierrors.IsNotFound(err) || (err == nil && !has(served, definition.Spec.Names.Plural)) {
				return definition.Name, nil
			}
			if err != nil {
				return "", err
			}
		}
	}
	return "", nil
}

func has(served *metav1.APIResourceList, plural string) bool {
	for _, resource := range served.APIResources {
		if resource.Name == plural {
			return true
		}
	}
	return false
}
