package installed

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/operator"
	"github.com/c5c3/forge/internal/common/testutil/envtest"
	"github.com/c5c3/forge/internal/common/testutil/thirdparty"
)

// Chart is a chart and the operator that it installs.
type Chart struct {
	Env *envtest.Env
	// Folder is the folder of the chart, with its rendered objects below "tests/rendered".
	Folder string
	// Options are the options that the operator's main function uses.
	Options operator.Options
	// Program is the program if it runs several operators; nil stands for one that runs only that
	// with the Options, which then have the name of the program and know the kind of the sample.
	Program func(ctx context.Context, args []string, config *rest.Config) error
	// Sample is the path of a resource that the operator admits.
	Sample string
	// Begun is the condition that is False once the operator has looked at the sample and
	// found nothing of what that refers to.
	Begun string
}

// Main runs the tests of an operator's program with an API server that has the definitions
// of its chart, those in more and those of the third-party projects.
func (c *Chart) Main(m *testing.M, projects []thirdparty.Project, more ...string) {
	o := envtest.Options{CRDs: append([]string{filepath.Join(c.Folder, "crds")}, more...), ThirdParty: projects}
	envtest.Main(m, o, func(_ context.Context, e *envtest.Env) error {
		c.Env = e
		return nil
	})
}

// Resource returns the sample in the namespace.
func (c Chart) Resource(t testing.TB, namespace string) client.Object {
	t.Helper()
	content, err := os.ReadFile(c.Sample)
	if err != nil {
		t.Fatal(err)
	}
	decoded, _, err := serializer.NewCodecFactory(c.Options.Scheme, serializer.EnableStrict).UniversalDeserializer().Decode(content, nil, nil)
	if err != nil {
		t.Fatalf("%s: %v", c.Sample, err)
	}
	resource := decoded.(client.Object)
	resource.SetNamespace(namespace)
	return resource
}

// run runs the program.
func (c Chart) run(ctx context.Context, args []string, config *rest.Config) error {
	if c.Program != nil {
		return c.Program(ctx, args, config)
	}
	options := c.Options
	options.SkipNameValidation = true
	return operator.Run(ctx, options, args, config)
}
