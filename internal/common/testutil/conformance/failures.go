package conformance

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/testutil/children"
	"github.com/c5c3/forge/internal/common/testutil/crashwalk"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/running"
	"github.com/c5c3/forge/internal/common/testutil/transport"
)

// failures verifies that an operator recovers wherever it is killed and whatever the API
// server answers. Only writes change the state of the cluster, so a kill at a read leaves
// the same state as a kill after the preceding write.
func (s suite[T]) failures(t *testing.T) {
	for _, proof := range []struct {
		name   string
		shared bool
		run    func(*testing.T)
	}{
		{"an operator killed at any write converges after its restart", false, func(t *testing.T) {
			crashwalk.Walk(t, s.wayToReady(t, managed, transport.KillAfter))
		}},
		{"a write whose answer is lost is repeated", false, func(t *testing.T) {
			way := s.wayToReady(t, brownfield, transport.FailAfter)
			way.Long = true
			crashwalk.Walk(t, way)
		}},
		{"a failed API call only delays the operator", true, func(t *testing.T) {
			way := s.wayToReady(t, brownfield, transport.Conflict, transport.TooManyRequests, transport.InternalError, transport.Timeout)
			way.EveryCall = true
			crashwalk.Walk(t, way)
		}},
		{"refused writes are reported and retried once they are allowed", true, s.refusedWrites},
		{"an operator killed during an upgrade finishes it after its restart", true, func(t *testing.T) {
			crashwalk.Walk(t, s.wayOnline(t))
		}},
		{"an operator killed during an offline upgrade finishes it after its restart", true, func(t *testing.T) {
			crashwalk.Walk(t, s.wayOffline(t))
		}},
		{"an operator killed during a deletion finishes it after its restart", true, func(t *testing.T) {
			crashwalk.Walk(t, s.wayToTheEnd(t))
		}},
	} {
		if !s.verifies(proof.shared) {
			continue
		}
		t.Run(proof.name, func(t *testing.T) {
			t.Parallel()
			proof.run(t)
		})
	}
}

// outcome is what a run of the operator is judged by.
type outcome struct {
	// Children are all objects of the resource, including orphans of lost writes.
	Children []string
	// Conditions are the status and reason of each condition.
	Conditions map[string]string
	// Runs counts how often each Job succeeded.
	Runs map[string]int
	// InstalledRelease is the release in the status.
	InstalledRelease string
	// Irreplaceable are digests of what must never be created twice. They differ between
	// runs, but not within one.
	Irreplaceable map[string]string
}

func (s suite[T]) observe(ctx context.Context, namespace string) (outcome, error) {
	o := outcome{Conditions: map[string]string{}, Runs: map[string]int{}, Irreplaceable: map[string]string{}}
	resource := s.New(namespace, s.Definition.CodeName)
	if err := s.Admin.Get(ctx, client.ObjectKeyFromObject(resource), resource); err != nil {
		return o, err
	}
	o.InstalledRelease = resource.ServiceStatus().InstalledRelease
	for _, condition := range resource.GetConditions() {
		o.Conditions[condition.Type] = string(condition.Status) + "/" + condition.Reason
	}
	found, err := children.Find(ctx, s.Admin, s.Definition, namespace)
	if err != nil {
		return o, err
	}
	o.Children = children.Names(found)
	for _, child := range s.wantChildren(brownfield) {
		if job, is := strings.CutPrefix(child, "Job "); is {
			o.Runs[job] = len(s.Jobs.Runs(namespace, job))
		}
	}
	for _, name := range s.Irreplaceable {
		secret := &corev1.Secret{}
		if err := s.Admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret); client.IgnoreNotFound(err) != nil {
			return o, err
		}
		for key, value := range secret.Data {
			digest := sha256.Sum256(value)
			o.Irreplaceable[name+"/"+key] = hex.EncodeToString(digest[:4])
		}
	}
	return o, nil
}

// compareOutcomes requires the final state to be that of an undisturbed run, and
// irreplaceable content that existed at the time of the failure to be unchanged.
func compareOutcomes(undisturbed, failed, final outcome) string {
	for name, digest := range failed.Irreplaceable {
		if final.Irreplaceable[name] != digest {
			return fmt.Sprintf("%s existed at the failure and was replaced or lost later", name)
		}
	}
	if got, want := len(final.Irreplaceable), len(undisturbed.Irreplaceable); got != want {
		return fmt.Sprintf("there are %d keys in %v, expected %d", got, slices.Sorted(maps.Keys(final.Irreplaceable)), want)
	}
	undisturbed.Irreplaceable, final.Irreplaceable = nil, nil
	if diff := cmp.Diff(undisturbed, final); diff != "" {
		return "the final state (-undisturbed +got):\n" + diff
	}
	return ""
}

// settled returns nil if the resource in the namespace has converged.
func (s suite[T]) settled(ctx context.Context, namespace string) error {
	resource := s.New(namespace, s.Definition.CodeName)
	if err := s.Admin.Get(ctx, client.ObjectKeyFromObject(resource), resource); err != nil {
		return err
	}
	return s.readyNow(resource)
}

// newcomer creates a namespace with a resource of the mode that no operator has
// reconciled yet.
func (s suite[T]) newcomer(ctx context.Context, m mode) (namespace string, err error) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "walk-"}}
	if err := s.Admin.Create(ctx, ns); err != nil {
		return "", err
	}
	for _, obj := range append(s.inputs(ns.Name, m), s.make(ns.Name, m)) {
		if err := s.Admin.Create(ctx, obj); err != nil {
			return "", err
		}
	}
	return ns.Name, nil
}

// run runs an operator until ctx ends.
func (s suite[T]) run(ctx context.Context, cfg *rest.Config, namespace string) error {
	return s.Program.Run(ctx, cfg, namespace, controller.Options{Probe: s.probe(&running.API{})})
}

// wayToReady is the walk of a new resource of the mode to Ready, with failing writes.
func (s suite[T]) wayToReady(t *testing.T, m mode, failures ...transport.Mode) crashwalk.Scenario[outcome] {
	t.Helper()
	writes, resource := s.childWrites(t, m), s.resourceOf(t, s.Definition.Kind)
	writes["patch "+resource], writes["update "+resource+"/status"] = 2, 1
	return crashwalk.Scenario[outcome]{
		Config:   s.AsOperator,
		Modes:    failures,
		Writes:   writes,
		Prepare:  func(ctx context.Context) (string, error) { return s.newcomer(ctx, m) },
		Operator: s.run,
		Settled:  s.settled,
		Observe:  s.observe,
		Compare:  compareOutcomes,
	}
}

// leaver creates a namespace with a resource that was ready and is deleted while no
// operator is running.
func (s suite[T]) leaver(ctx context.Context, m mode) (namespace string, err error) {
	namespace, err = s.newcomer(ctx, m)
	if err != nil {
		return "", err
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- s.run(running, s.AsOperator, namespace) }()
	err = expect.Until(ctx, func(ctx context.Context) error { return s.settled(ctx, namespace) })
	stop()
	if err := errors.Join(err, <-ended); err != nil {
		return "", err
	}
	return namespace, s.Admin.Delete(ctx, s.make(namespace, m))
}

// wayToTheEnd is the walk through the deletion of a resource with a managed database.
func (s suite[T]) wayToTheEnd(t *testing.T) crashwalk.Scenario[[]string] {
	t.Helper()
	resource := s.resourceOf(t, s.Definition.Kind)
	writes := map[string]int{"patch " + resource: 1}
	for _, kind := range []string{"databases", "users", "grants"} {
		writes["delete "+kind+".k8s.mariadb.com"] = 1
	}
	maps.Copy(writes, s.DeletionWrites)
	return crashwalk.Scenario[[]string]{
		Config:   s.AsOperator,
		Writes:   writes,
		Prepare:  func(ctx context.Context) (string, error) { return s.leaver(ctx, managed) },
		Operator: s.run,
		Settled: func(ctx context.Context, namespace string) error {
			resource := s.make(namespace, managed)
			err := s.Admin.Get(ctx, client.ObjectKeyFromObject(resource), resource)
			if apierrors.IsNotFound(err) {
				return s.nothingLeft(ctx, namespace)
			}
			return errors.Join(errors.New("the resource is still there"), err)
		},
		Observe: func(ctx context.Context, namespace string) ([]string, error) {
			found, err := children.Find(ctx, s.Admin, s.Definition, namespace)
			return children.Names(found), err
		},
		Compare: func(undisturbed, _, final []string) string { return cmp.Diff(undisturbed, final) },
	}
}
