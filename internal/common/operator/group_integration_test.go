//go:build integration

package operator

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/c5c3/forge/internal/common/operator/startup"
	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/expect"
)

// work stands for the controllers of an operator, in whichever programs that runs.
type work struct {
	workers, most atomic.Int32
	fail          chan error
}

// operator returns the operator as one program has it, and where that one works.
func (w *work) operator(name string) (Options, *atomic.Bool) {
	working := &atomic.Bool{}
	return Options{
		Name: name + "-operator", LeaderElectionID: name + ".example.com",
		Scheme: clientgoscheme.Scheme, SkipNameValidation: true,
		Setup: func(_ context.Context, mgr ctrl.Manager, _ startup.Config) error {
			return mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
				w.most.Store(max(w.most.Load(), w.workers.Add(1)))
				working.Store(true)
				defer func() {
					working.Store(false)
					w.workers.Add(-1)
				}()
				select {
				case <-ctx.Done():
					return nil
				case err := <-w.fail:
					return err
				}
			}))
		},
	}, working
}

func is(working *atomic.Bool) func(context.Context) error {
	return func(context.Context) error {
		if !working.Load() {
			return errors.New("it does not work")
		}
		return nil
	}
}

// startGroup runs the group as [start] runs an operator.
func startGroup(t *testing.T, namespace string, g Group, args ...string) *running {
	t.Helper()
	return startProgram(t, namespace, func(ctx context.Context, args []string) error {
		return g.Run(ctx, args, env.Config)
	}, append([]string{"--leader-elect"}, args...)...)
}

func TestAnOperatorWorksInOneProgramAtATime(t *testing.T) {
	own, common := env.Namespace(t), env.Namespace(t)
	alpha, beta := &work{}, &work{}
	single, inSingle := alpha.operator("alpha")
	first, inGroup := alpha.operator("alpha")
	second, others := beta.operator("beta")
	group := Group{Name: "pair-operator", Operators: []Options{first, second}}
	args := []string{"--enable-webhooks=false"}

	before := start(t, own, env.Config, single, append(args, "--leader-elect")...)
	expect.Eventually(t, "the operator works in its own program", is(inSingle))
	g := startGroup(t, common, group, append(args, "--lease-namespaces=alpha="+own)...)
	expect.Eventually(t, "the other operator works in the group", is(others))
	expect.Eventually(t, "the group is ready while it waits for a Lease", g.passes("/readyz"))
	if inGroup.Load() {
		t.Fatal("the group works without the Lease")
	}

	before.stop(t)
	expect.Eventually(t, "the operator works in the group", is(inGroup))
	after := start(t, own, env.Config, single, append(args, "--leader-elect")...)
	expect.Eventually(t, "its own program is ready while it waits", after.passes("/readyz"))
	if inSingle.Load() {
		t.Fatal("its own program works without the Lease")
	}
	g.stop(t)
	expect.Eventually(t, "the operator works in its own program again", is(inSingle))
	if most := alpha.most.Load(); most != 1 {
		t.Errorf("the operator has worked in %d programs at the same time", most)
	}
}

func TestAFailingOperatorEndsTheGroupWhichReleasesTheOtherLeases(t *testing.T) {
	namespace := env.Namespace(t)
	alpha, beta := &work{fail: make(chan error)}, &work{}
	first, failing := alpha.operator("alpha")
	second, other := beta.operator("beta")
	third, elsewhere := beta.operator("beta")
	ended := make(chan error, 1)
	startProgram(t, namespace, func(ctx context.Context, args []string) error {
		ended <- Group{Name: "pair-operator", Operators: []Options{first, second}}.Run(ctx, args, env.Config)
		return nil
	}, "--enable-webhooks=false", "--leader-elect")
	expect.Eventually(t, "both work", is(failing))
	expect.Eventually(t, "both work", is(other))

	broken := errors.New("lost it")
	alpha.fail <- broken
	if err := <-ended; !errors.Is(err, broken) || !strings.Contains(err.Error(), "alpha-operator") {
		t.Errorf("error = %v, want one that names the operator and the reason", err)
	}
	start(t, namespace, env.Config, third, "--enable-webhooks=false", "--leader-elect")
	expect.Eventually(t, "another program takes the other Lease", is(elsewhere))
}

// boats returns the definition of a kind of an operator.
func boats(group string) fs.FS {
	return fstest.MapFS{"boats.yaml": {Data: []byte(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: boats.` + group + `
  annotations: {forge.c5c3.io/version: 1.0.0}
spec:
  group: ` + group + `
  names: {kind: Boat, listKind: BoatList, plural: boats, singular: boat}
  scope: Namespaced
  versions:
    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`)}}
}

func TestAnOperatorWithoutItsKindsIsLeftOutUntilTheyAreInstalled(t *testing.T) {
	namespace := env.Namespace(t)
	alpha, beta := &work{}, &work{}
	first, present := alpha.operator("alpha")
	second, absent := beta.operator("beta")
	first.Definitions, second.Definitions = boats("alpha.example.com"), boats("beta.example.com")
	group := Group{Name: "pair-operator", Operators: []Options{first, second}}

	if err := group.Run(t.Context(), []string{ApplyDefinitions, "--services=alpha"}, env.Config); err != nil {
		t.Fatal(err)
	}
	g := startGroup(t, namespace, group, "--enable-webhooks=false")
	expect.Eventually(t, "the operator works whose kind is installed", is(present))
	expect.Eventually(t, "the group is ready", g.passes("/readyz"))
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	name := client.ObjectKey{Name: "boats.beta.example.com"}
	if err := env.Client(t, scheme).Get(t.Context(), name, &apiextensionsv1.CustomResourceDefinition{}); err == nil {
		t.Error("the definition was applied of an operator that was not chosen")
	}
	if absent.Load() {
		t.Error("the operator works whose kind is not installed")
	}

	if err := group.Run(t.Context(), []string{ApplyDefinitions}, env.Config); err != nil {
		t.Fatal(err)
	}
	expect.Eventually(t, "the other operator works", is(absent))
}

func TestTheWebhooksOfAGroupHaveOneServerAndOneCertificate(t *testing.T) {
	namespace := env.Namespace(t)
	group := Group{Name: "pair-operator"}
	for _, name := range []string{"alpha", "beta"} {
		o, _ := (&work{}).operator(name)
		o.Webhooks = func(mgr ctrl.Manager, _ startup.Config) error {
			mgr.GetWebhookServer().Register("/"+name, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusNoContent)
			}))
			return nil
		}
		group.Operators = append(group.Operators, o)
	}
	name, port := namespace+"-openstack", envtest.FreePort(t)
	createAll(t,
		&admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name + "-mutating"}},
		&admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name + "-validating"}},
	)
	g := startGroup(t, namespace, group, "--webhook-cert-source=self-managed", "--webhook-service-name="+name,
		fmt.Sprintf("--webhook-port=%d", port))
	expect.Eventually(t, "the group is ready", g.passes("/readyz"))

	anyName := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // The certificate is for the name of a Service.
	insecure := &http.Client{Transport: &http.Transport{TLSClientConfig: anyName}}
	for _, o := range group.Operators {
		expect.Eventually(t, "the webhook is served", func(ctx context.Context) error {
			url := fmt.Sprintf("https://localhost:%d/%s", port, o.service())
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
			if err != nil {
				return err
			}
			response, err := insecure.Do(request)
			if err != nil {
				return err
			}
			defer response.Body.Close()
			if response.StatusCode != http.StatusNoContent {
				return fmt.Errorf("%s answers %s", url, response.Status)
			}
			return nil
		})
	}
}
