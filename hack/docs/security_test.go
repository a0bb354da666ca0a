package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/c5c3/forge/internal/common/testutil/outside"
)

var (
	// powerful matches names of fields through which whoever sets them reads or writes Secrets
	// or ConfigMaps, runs code, or chooses where data is stored.
	powerful = regexp.MustCompile(`(?i)secret|configmap|^image$|^storageClassName$`)
	codeSpan = regexp.MustCompile("`([A-Za-z0-9.]+)`")
)

// TestEveryPrivilegedFieldIsInTheSecurityPolicy looks for such fields of our kinds in SECURITY.md. Those
// of the services of a ControlPlane are fields of a Keystone and a Placement.
func TestEveryPrivilegedFieldIsInTheSecurityPolicy(t *testing.T) {
	content, err := os.ReadFile(outside.File(filepath.Join(root, "SECURITY.md")))
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, match := range codeSpan.FindAllStringSubmatch(string(content), -1) {
		named[match[1]] = true
	}
	seen := 0
	for kind, crd := range definitions(t) {
		spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		eachField("", &spec, func(path string) {
			name := path[strings.LastIndex(path, ".")+1:]
			if !powerful.MatchString(name) || kind == "ControlPlane" && strings.HasPrefix(path, "services.") {
				return
			}
			seen++
			if !isNamed(path, named) && !isNamed(strings.TrimSuffix(path, "."+name), named) {
				t.Errorf("SECURITY.md does not say what %s of a %s grants", path, kind)
			}
		})
	}
	enough(t, seen, 20, "fields")
}

// eachField visits the paths of all fields below a schema.
func eachField(path string, schema *apiextensionsv1.JSONSchemaProps, visit func(path string)) {
	if schema.Items != nil && schema.Items.Schema != nil {
		eachField(path, schema.Items.Schema, visit)
	}
	for name, property := range schema.Properties {
		below := strings.TrimPrefix(path+"."+name, ".")
		visit(below)
		eachField(below, &property, visit)
	}
}

// isNamed reports whether the end of a path is named. One name alone is enough only for a field of
// the spec itself: many blocks have an image.
func isNamed(path string, named map[string]bool) bool {
	for end := path; ; {
		if named[end] && (end == path || strings.Contains(end, ".")) {
			return true
		}
		_, rest, more := strings.Cut(end, ".")
		if !more {
			return false
		}
		end = rest
	}
}
