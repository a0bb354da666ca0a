package conformance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// globalOptions verifies that the service uses the options that a control plane sets for all
// services, except those that it has itself, and lists these in its status.
func (s suite[T]) globalOptions(t *testing.T) {
	t.Parallel()
	i := s.prepared(t, brownfield)
	const options = "options"
	objects.Create(t, s.Admin, i.secret(options, map[string]string{options: "[Global]\nhidden = own\n"}))
	spec := i.optionsSpec()
	spec.GlobalExtraConfig = map[string]map[string]string{"global": {"shared": "all", "own": "all", "hidden": "all"}}
	spec.ExtraConfig = map[string]map[string]string{"Global": {"own": "own"}}
	spec.ExtraConfigSecretRef = &commonv1.SecretRefSpec{Name: options, Key: options}
	i.Create()
	i.Ready()
	i.readsLines("shared = all", "own = own")
	hidden := commonv1.OverriddenOption{Section: "global", Option: "hidden", By: "spec.extraConfigSecretRef"}
	i.overrides(hidden, commonv1.OverriddenOption{Section: "global", Option: "own", By: "spec.extraConfig"})
	i.settle()
	i.changeOptions(func(spec *commonv1.OptionsSpec) { spec.ExtraConfig = nil })
	i.overrides(hidden)
	i.Ready()
	i.readsLines("shared = all", "own = all")
	i.changeOptions(func(spec *commonv1.OptionsSpec) { spec.GlobalExtraConfig = nil })
	i.overrides()
	i.Ready()
	if public, _ := i.options(); strings.Contains(public, "shared = all") {
		t.Errorf("the pods still read\n%s", public)
	}
}

// readsLines fails the test unless the pods read the lines from their ConfigMap.
func (i *Instance[T]) readsLines(lines ...string) {
	i.Helper()
	public, _ := i.options()
	for _, line := range lines {
		if !strings.Contains(public, line+"\n") {
			i.Errorf("the pods do not read %q:\n%s", line, public)
		}
	}
}

// overrides waits until the status lists exactly these options.
func (i *Instance[T]) overrides(want ...commonv1.OverriddenOption) {
	i.Helper()
	expect.Object(i.T, i.Admin, client.Object(i.Resource), func() error {
		if diff := cmp.Diff(want, i.Resource.ServiceStatus().OverriddenOptions); diff != "" {
			return fmt.Errorf("overridden options (-want +got):\n%s", diff)
		}
		return nil
	})
}
