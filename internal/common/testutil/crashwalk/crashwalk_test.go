//go:build integration

package crashwalk

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/transport"
)

// env is the API server of this package's tests.
var env *envtest.Env

func TestMain(m *testing.M) {
	envtest.Main(m, envtest.Options{}, func(_ context.Context, e *envtest.Env) error {
		env = e
		return nil
	})
}

// scenario is an operator that creates the ConfigMaps a, b and c. create is
// how it does one of them.
func scenario(t *testing.T, create func(ctx context.Context, c client.Client, cm *corev1.ConfigMap) error) Scenario[string] {
	c := env.Client(t, nil)
	observe := func(ctx context.Context, namespace string) (string, error) {
		list := &corev1.ConfigMapList{}
		if err := c.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return "", err
		}
		var names []string
		for _, cm := range list.Items {
			name, _, _ := strings.Cut(cm.Name, ".")
			names = append(names, name)
		}
		return strings.Join(names, " "), nil
	}
	return Scenario[string]{
		Config: env.Config,
		Prepare: func(ctx context.Context) (string, error) {
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "walk-"}}
			err := c.Create(ctx, ns)
			return ns.Name, err
		},
		Operator: func(ctx context.Context, cfg *rest.Config, namespace string) error {
			return operator(ctx, cfg, namespace, create)
		},
		Settled: func(ctx context.Context, namespace string) error {
			err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "c"}, &corev1.ConfigMap{})
			return err
		},
		Observe: observe,
		Compare: func(undisturbed, _, final string) string {
			if final != undisturbed {
				return fmt.Sprintf("expected %q, got %q", undisturbed, final)
			}
			return ""
		},
	}
}

func operator(
	ctx context.Context, cfg *rest.Config, namespace string,
	create func(ctx context.Context, c client.Client, cm *corev1.ConfigMap) error,
) error {
	c, err := client.New(cfg, client.Options{})
	if err != nil {
		return err
	}
	for _, name := range []string{"a", "b", "c"} {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		for create(ctx, c, cm) != nil && ctx.Err() == nil {
			cm.ResourceVersion = ""
		}
	}
	<-ctx.Done()
	return nil
}

func createOnce(ctx context.Context, c client.Client, cm *corev1.ConfigMap) error {
	if err := c.Create(ctx, cm); !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

// createTwice leaves an orphan behind when it is interrupted half way.
func createTwice(ctx context.Context, c client.Client, cm *corev1.ConfigMap) error {
	scratch := cm.DeepCopy()
	scratch.Name, scratch.GenerateName = "", cm.Name+".scratch-"
	if err := c.Create(ctx, scratch); err != nil {
		return err
	}
	if err := createOnce(ctx, c, cm); err != nil {
		return err
	}
	return c.Delete(ctx, scratch)
}

var allModes = []transport.Mode{
	transport.FailBefore, transport.FailAfter, transport.KillBefore, transport.KillAfter,
}

func TestAnOperatorThatRepeatsItsWorkPassesEveryFailure(t *testing.T) {
	s := scenario(t, createOnce)
	s.Modes = allModes
	Walk(t, s)
}

func TestAnOrphanAfterAFailureIsFound(t *testing.T) {
	s := scenario(t, createTwice)
	undisturbed, writes, err := s.undisturbed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(writes) != 9 && len(writes) != 8 {
		t.Fatalf("undisturbed writes: got %d, want 8 or 9:\n%s", len(writes), writes)
	}
	hit, err := s.try(t.Context(), point{call: 2, modes: []transport.Mode{transport.KillBefore}}, undisturbed)
	if err == nil || !strings.Contains(err.Error(), "a a b c") {
		t.Errorf("after a kill before %s: expected an orphan of a to be found, got %v", hit, err)
	}
}

func TestAnOperatorThatEndsByItselfIsFound(t *testing.T) {
	s := scenario(t, createOnce)
	s.Operator = func(context.Context, *rest.Config, string) error { return fmt.Errorf("no leader") }
	_, _, err := s.undisturbed(t.Context())
	if err == nil || !strings.Contains(err.Error(), "no leader") {
		t.Errorf("expected the operator's own error, got %v", err)
	}
}
