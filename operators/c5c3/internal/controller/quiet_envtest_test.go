//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/transport"
)

// touch triggers a pass over one of a controller's resources by changing an object that
// it reads. It returns the requests of that pass in the namespace, except events: they
// are written asynchronously, so those of an earlier pass may come late.
func touch(t *testing.T, c client.Client, controller string, resource, read client.Object) transport.Requests {
	t.Helper()
	before, count := requests.Snapshot(), log.passesOver(controller, resource)
	objects.Change(t, c, read, func(obj client.Object) {
		annotations := maps.Clone(obj.GetAnnotations())
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations["example.com/touched"] = strconv.Itoa(count)
		obj.SetAnnotations(annotations)
	})
	expect.Eventually(t, "a pass after a change of "+read.GetName(), func(context.Context) error {
		if log.passesOver(controller, resource) == count {
			return errors.New("the operator has not looked")
		}
		return nil
	})
	return requests.Since(before).Filter(func(r transport.Request) bool {
		return r.Namespace == resource.GetNamespace() && r.Resource != "" && !r.Event()
	})
}

// expectQuiet waits until several consecutive passes over a resource, each after a change
// of an object that it reads, make only one request: the read of a changed Secret, whose
// content may have changed, too. Earlier changes may reach the operator in between.
func expectQuiet(t *testing.T, c client.Client, controller string, resource, read client.Object) {
	t.Helper()
	expect.Eventually(t, "passes without a request", func(context.Context) error {
		for range 4 {
			made := touch(t, c, controller, resource, read).Filter(func(r transport.Request) bool {
				return r.Verb != "get" || r.Resource != "secrets" || r.Name != read.GetName()
			})
			if len(made) > 0 {
				return fmt.Errorf("a pass took %d requests:\n%s", len(made), made)
			}
		}
		return nil
	})
}
