package conformance

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/children"
	"github.com/c5c3/forge/internal/common/testutil/crashwalk"
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
			crashwalk.Walk(t, s.trial(t, s.fullest()).Way(transport.KillAfter))
		}},
		{"a write whose answer is lost is repeated", false, func(t *testing.T) {
			way := s.trial(t, brownfield).Way(transport.FailAfter)
			way.Long = true
			crashwalk.Walk(t, way)
		}},
		{"a failed API call only delays the operator", true, func(t *testing.T) {
			crashwalk.Walk(t, s.trial(t, brownfield).failedCalls())
		}},
		{"refused writes are reported and retried once they are allowed", true, s.refusedWrites},
		{"an operator killed during an upgrade finishes it after its restart", true, s.withData(func(t *testing.T) {
			crashwalk.Walk(t, s.wayOnline(t))
		})},
		{"an operator killed during an offline upgrade finishes it after its restart", true, s.withData(func(t *testing.T) {
			crashwalk.Walk(t, s.wayOffline(t))
		})},
		{"an operator killed during a deletion finishes it after its restart", true, func(t *testing.T) {
			crashwalk.Walk(t, s.trial(t, s.fullest()).Deletion())
		}},
	} {
		if proof.run == nil || !s.verifies(proof.shared) {
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

func (s suite[T]) observe(ctx context.Context, namespace string) (any, error) {
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
func compareOutcomes(one, other, last any) string {
	undisturbed, failed, final := one.(outcome), other.(outcome), last.(outcome)
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
