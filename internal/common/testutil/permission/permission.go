// Package permission compares what controllers watch and write with the markers that the roles
// in their operator's chart are generated from.
package permission

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/c5c3/forge/internal/common/controller"
)

var marker = regexp.MustCompile(`(?m)^// \+kubebuilder:rbac:groups=(\S+?),resources=(\S+?),verbs=(\S+)$`)

// Check fails for every permission that the markers in the files do not give to an operator
// with the watched kinds.
func Check(t testing.TB, scheme *runtime.Scheme, watched []controller.Watched, files ...string) {
	t.Helper()
	var sources strings.Builder
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources.Write(source)
	}
	lacking, err := missing(sources.String(), scheme, watched)
	if err != nil {
		t.Fatal(err)
	}
	for _, permission := range lacking {
		t.Errorf("no marker of %v lets the operator %s", files, permission)
	}
}

// missing returns the permissions, such as "patch deployments of group apps", that the
// markers in the source do not give to an operator with the watched kinds.
func missing(source string, scheme *runtime.Scheme, watched []controller.Watched) ([]string, error) {
	given := map[string][]string{}
	for _, match := range marker.FindAllStringSubmatch(source, -1) {
		for group := range strings.SplitSeq(strings.Trim(match[1], `"`), ";") {
			for resource := range strings.SplitSeq(match[2], ";") {
				key := resource + " of group " + strings.Trim(group, `"`)
				given[key] = append(given[key], strings.Split(match[3], ";")...)
			}
		}
	}
	var lacking []string
	for _, kind := range watched {
		gvk, err := apiutil.GVKForObject(kind.Object, scheme)
		if err != nil {
			return nil, fmt.Errorf("finding the kind of %T: %w", kind.Object, err)
		}
		// The plurals of all kinds that are watched are regular.
		plural, _ := meta.UnsafeGuessKindToResource(gvk)
		key := plural.Resource + " of group " + plural.Group
		verbs := []string{"list", "watch"}
		if kind.Written {
			verbs = append(verbs, "create", change(kind.Object))
		}
		for _, verb := range verbs {
			if !slices.Contains(given[key], verb) {
				lacking = append(lacking, verb+" "+key)
			}
		}
	}
	return lacking, nil
}

// change returns the verb with which objects of the kind are changed. A Secret is updated
// as it was read, which fails if it has changed since: what it holds cannot be rebuilt.
func change(object client.Object) string {
	if _, secret := object.(*corev1.Secret); secret {
		return "update"
	}
	return "patch"
}
