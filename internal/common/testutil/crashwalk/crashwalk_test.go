//go:build integration

package crashwalk

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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

// createConfigMap is the work of the operators in the scenarios.
const createConfigMap = "create configmaps"

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
		Writes: map[string]int{createConfigMap: 3},
		Prepare: func(ctx context.Context) (string, error) {
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "walk-"}}
			err := c.Create(ctx, ns)
			return ns.Name, err
		},
		Operator: func(ctx context.Context, cfg *rest.Config, namespace string) error {
			return operator(ctx, cfg, namespace, create, "a", "b", "c")
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
	create func(ctx context.Context, c client.Client, cm *corev1.ConfigMap) error, names ...string,
) error {
	c, err := client.New(cfg, client.Options{})
	if err != nil {
		return err
	}
	for _, name := range names {
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

func TestAnIdempotentOperatorPassesTheWalk(t *testing.T) {
	s := scenario(t, createOnce)
	s.Modes = allModes
	Walk(t, s)
}

// The condition of Settled was met before the operator died.
func TestAnOperatorMayContinueAfterSettledIsMet(t *testing.T) {
	s := scenario(t, nil)
	s.Operator = func(ctx context.Context, cfg *rest.Config, namespace string) error {
		return operator(ctx, cfg, namespace, createOnce, "c", "b", "a")
	}
	Walk(t, s)
}

func TestAnOrphanLeftByAKillIsDetected(t *testing.T) {
	s := scenario(t, createTwice)
	undisturbed, writes, err := s.undisturbed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(writes) != 9 && len(writes) != 8 {
		t.Fatalf("undisturbed writes: got %d, want 8 or 9:\n%s", len(writes), writes)
	}
	s.patience = 3 * time.Second
	second := point{calls: []transport.Call{{Kind: createConfigMap, N: 2}}, modes: []transport.Mode{transport.KillBefore}}
	hit, err := s.try(t.Context(), second, undisturbed)
	if err == nil || !strings.Contains(err.Error(), "a a b c") {
		t.Errorf("after a kill before %s: expected an orphan of a to be found, got %v", hit, err)
	}
}

// Settled held before the operator began its last change.
func TestATransientStateIsNotTheReferenceState(t *testing.T) {
	s := scenario(t, createOnce)
	c := env.Client(t, nil)
	settled, begun := s.Settled, false
	s.Settled = func(ctx context.Context, namespace string) error {
		if err := settled(ctx, namespace); err != nil {
			return err
		}
		change := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "change"}}
		if !begun {
			begun = true
			return c.Create(ctx, change)
		}
		if err := c.Delete(ctx, change); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the change is not over: %w", err)
		}
		return nil
	}
	state, _, err := s.undisturbed(t.Context())
	if err != nil || state != "a b c" {
		t.Errorf("got the state %q and %v, want %q", state, err, "a b c")
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

func TestAnExpectedWriteThatIsNotMadeFailsTheWalk(t *testing.T) {
	s := scenario(t, createOnce)
	s.Writes["delete configmaps"] = 1
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	settled, checked := s.Settled, false
	s.Settled = func(ctx context.Context, namespace string) error {
		if checked {
			giveUp()
		}
		err := settled(ctx, namespace)
		checked = err == nil
		return err
	}
	_, _, err := s.undisturbed(ctx)
	if err == nil || !strings.Contains(err.Error(), "delete configmaps #1") {
		t.Errorf("expected an error that names the write, got %v", err)
	}
}

func TestAnOperatorIsKilledAtEachCallOfAPoint(t *testing.T) {
	s := scenario(t, createTwice)
	s.Writes = map[string]int{createConfigMap: 6, "delete configmaps": 3}
	undisturbed, _, err := s.undisturbed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Compare = func(_, failed, _ string) string { return failed }
	s.patience = 3 * time.Second
	both := point{
		calls: []transport.Call{{Kind: createConfigMap, N: 1}, {Kind: "delete configmaps", N: 1}},
		modes: []transport.Mode{transport.KillAfter},
	}
	hits, err := s.try(t.Context(), both, undisturbed)
	if len(hits) != 2 || hits[0].Verb != "create" || hits[1].Verb != "delete" {
		t.Errorf("struck %s, want the first creation and then the first deletion", hits)
	}
	// The state after the first kill is compared, too.
	if err == nil || !strings.Contains(err.Error(), ": a\n") {
		t.Errorf("after the first kill: expected the scratch of a, got %v", err)
	}
}

// The undisturbed run made a second deletion, which other runs need not make.
func TestEveryWriteFailsOnceInEachMode(t *testing.T) {
	calls := []transport.Call{{Kind: "create", N: 1}, {Kind: "delete", N: 1}, {Kind: "create", N: 2}, {Kind: "delete", N: 2}}
	s := Scenario[string]{
		Modes:  []transport.Mode{transport.KillAfter, transport.FailBefore, transport.FailAfter},
		Writes: map[string]int{"create": 2, "delete": 1},
	}
	kills, failures := map[transport.Call]int{}, map[transport.Call]int{}
	for _, p := range s.points(calls) {
		if p.kills() && len(p.calls) != 1 && !testing.Short() {
			t.Errorf("an operator is killed at %v", p.calls)
		}
		for _, call := range p.calls {
			if p.kills() {
				kills[call]++
			} else {
				failures[call]++
			}
		}
	}
	wantKills := map[transport.Call]int{calls[0]: 1, calls[1]: 1, calls[2]: 1, calls[3]: 1}
	wantFailures := map[transport.Call]int{calls[0]: 2, calls[1]: 2, calls[2]: 2, calls[3]: 2}
	if testing.Short() {
		wantKills = map[transport.Call]int{calls[0]: 1, calls[1]: 1}
		wantFailures = map[transport.Call]int{}
	}
	if diff := cmp.Diff(wantKills, kills); diff != "" {
		t.Errorf("kills (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantFailures, failures); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
}
