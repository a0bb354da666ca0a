package operators

import (
	"fmt"
	"slices"
	"strings"
)

// All are the operators that the bench knows.
var All = []*Operator{Keystones, ControlPlanes, Services}

// Find returns the operator with a name.
func Find(name string) (*Operator, error) {
	known := make([]string, len(All))
	for i, o := range All {
		known[i] = o.Name
	}
	i := slices.Index(known, name)
	if i < 0 {
		return nil, fmt.Errorf("unknown operator %q: use %s", name, strings.Join(known, ", "))
	}
	return All[i], nil
}
