package installed

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/serializer"
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
