package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
)

// ParseTarget reads KIND/NAME or NAME. The kind may be plural and may have its
// group, as in controlplane.c5c3.io/production; without one it is empty.
func ParseTarget(arg string) (kind, name string, err error) {
	prefix, name, found := strings.Cut(arg, "/")
	if !found {
		return "", arg, nil
	}
	plain, _, _ := strings.Cut(prefix, ".")
	for _, known := range inventory.TargetKinds() {
		if singular := strings.TrimSuffix(plain, "s"); strings.EqualFold(singular, known.Kind) {
			kind = known.Kind
		}
	}
	if kind == "" || name == "" || strings.Contains(name, "/") {
		return "", "", fmt.Errorf("%q names no object that the command knows: write %s", arg, inventory.TargetForms())
	}
	return kind, name, nil
}

// Targets returns the candidates that the arguments name, or all of them
// if there are no arguments.
func Targets(candidates []inventory.Ref, namespace string, args []string) ([]inventory.Ref, error) {
	if len(args) == 0 && len(candidates) == 0 {
		return nil, fmt.Errorf("there is no ControlPlane and no service in namespace %s; choose another namespace with --namespace", namespace)
	}
	if len(args) == 0 {
		return candidates, nil
	}
	var chosen []inventory.Ref
	for _, arg := range args {
		kind, name, err := ParseTarget(arg)
		if err != nil {
			return nil, err
		}
		n := slices.IndexFunc(candidates, func(ref inventory.Ref) bool { return ref.Name == name && (kind == "" || ref.Kind == kind) })
		if n < 0 {
			return nil, fmt.Errorf("there is no %s in namespace %s%s", arg, namespace, others(candidates))
		}
		chosen = append(chosen, candidates[n])
	}
	return chosen, nil
}

func others(candidates []inventory.Ref) string {
	if len(candidates) == 0 {
		return ", and no other ControlPlane or service; choose another namespace with --namespace"
	}
	names := make([]string, 0, len(candidates))
	for _, ref := range candidates {
		names = append(names, ref.Arg())
	}
	return "; there is " + strings.Join(names, ", ")
}

// Candidates returns the ControlPlanes and services of a namespace, of all if it has no name, without
// their parts.
func Candidates(ctx context.Context, s *Session, namespace string) (*inventory.Inventory, error) {
	r := &reader{Session: s, found: &inventory.Inventory{Namespace: namespace}}
	return r.found, r.readOwn(ctx, false)
}

// One returns the single object that the arguments name, or the only one in the namespace.
// With accepted kinds, objects of other kinds are ignored, and naming one is an error.
func One(ctx context.Context, s *Session, args []string, accepted ...string) (inventory.Ref, error) {
	found, err := Candidates(ctx, s, s.Namespace)
	if err != nil {
		return inventory.Ref{}, err
	}
	refused := func(ref inventory.Ref) bool { return len(accepted) > 0 && !slices.Contains(accepted, ref.Kind) }
	candidates := found.All()
	if len(args) == 0 {
		candidates = slices.DeleteFunc(found.Roots(), refused)
	}
	if len(args) == 0 && len(candidates) == 0 && len(found.Roots()) > 0 {
		return inventory.Ref{}, fmt.Errorf("there is no %s in namespace %s; choose another namespace with --namespace",
			strings.Join(accepted, " and no "), s.Namespace)
	}
	chosen, err := Targets(candidates, s.Namespace, args)
	switch {
	case err != nil:
		return inventory.Ref{}, err
	case len(chosen) > 1:
		return inventory.Ref{}, fmt.Errorf("namespace %s has several: specify one%s", s.Namespace, others(chosen))
	case refused(chosen[0]):
		return inventory.Ref{}, fmt.Errorf("the command does not work on %s: specify a %s", chosen[0].Arg(), strings.Join(accepted, " or a "))
	}
	return chosen[0], nil
}

// Namespaces returns the namespaces that have a ControlPlane or a service, in order.
func Namespaces(ctx context.Context, s *Session) ([]string, error) {
	found, err := Candidates(ctx, s, "")
	switch {
	case err != nil:
		return nil, err
	case len(found.Gaps) > 0:
		return nil, found.Gaps[0]
	}
	var namespaces []string
	for _, ref := range found.All() {
		namespaces = append(namespaces, ref.Namespace)
	}
	if len(namespaces) == 0 {
		return nil, errors.New("there is no ControlPlane and no service in the cluster")
	}
	slices.Sort(namespaces)
	return slices.Compact(namespaces), nil
}
