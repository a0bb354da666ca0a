package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// kinds maps kubectl's names of the two kinds, without their group.
var kinds = map[string]string{
	"controlplane": inventory.KindControlPlane, "controlplanes": inventory.KindControlPlane,
	"keystone": inventory.KindKeystone, "keystones": inventory.KindKeystone,
}

// ParseTarget reads KIND/NAME or NAME. The kind may be plural and may have its
// group, as in controlplane.c5c3.io/production; without one it is empty.
func ParseTarget(arg string) (kind, name string, err error) {
	prefix, name, found := strings.Cut(arg, "/")
	if !found {
		return "", arg, nil
	}
	plain, _, _ := strings.Cut(strings.ToLower(prefix), ".")
	kind, known := kinds[plain]
	if !known || name == "" || strings.Contains(name, "/") {
		return "", "", fmt.Errorf("%q names neither a ControlPlane nor a Keystone: write controlplane/NAME, keystone/NAME or NAME", arg)
	}
	return kind, name, nil
}

// Targets returns the candidates that the arguments name, or all of them
// if there are no arguments.
func Targets(candidates []inventory.Ref, namespace string, args []string) ([]inventory.Ref, error) {
	if len(args) == 0 {
		if len(candidates) == 0 {
			return nil, fmt.Errorf("there is no ControlPlane and no Keystone in namespace %s; choose another namespace with --namespace", namespace)
		}
		return candidates, nil
	}
	var chosen []inventory.Ref
	for _, arg := range args {
		kind, name, err := ParseTarget(arg)
		if err != nil {
			return nil, err
		}
		n := slices.IndexFunc(candidates, func(ref inventory.Ref) bool {
			return ref.Name == name && (kind == "" || ref.Kind == kind)
		})
		if n < 0 {
			return nil, fmt.Errorf("there is no %s in namespace %s%s", arg, namespace, others(candidates))
		}
		chosen = append(chosen, candidates[n])
	}
	return chosen, nil
}

func others(candidates []inventory.Ref) string {
	if len(candidates) == 0 {
		return ", and no other ControlPlane or Keystone; choose another namespace with --namespace"
	}
	names := make([]string, 0, len(candidates))
	for _, ref := range candidates {
		names = append(names, ref.Arg())
	}
	return "; there is " + strings.Join(names, ", ")
}

// Candidates returns all ControlPlanes and Keystones of the session's namespace,
// without their parts.
func Candidates(ctx context.Context, s *Session) (roots, all []inventory.Ref, err error) {
	r := &reader{Session: s, found: &inventory.Inventory{Namespace: s.Namespace}}
	if err := r.readOwn(ctx); err != nil {
		return nil, nil, err
	}
	return r.found.Roots(), All(r.found), nil
}

// All returns every ControlPlane and every Keystone, the former first.
func All(found *inventory.Inventory) []inventory.Ref {
	all := make([]inventory.Ref, 0, len(found.ControlPlanes)+len(found.Keystones))
	for i := range found.ControlPlanes {
		all = append(all, inventory.Ref{Kind: inventory.KindControlPlane, Namespace: found.Namespace, Name: found.ControlPlanes[i].Name})
	}
	for i := range found.Keystones {
		all = append(all, inventory.Ref{Kind: inventory.KindKeystone, Namespace: found.Namespace, Name: found.Keystones[i].Name})
	}
	return all
}

// One returns the single object that the arguments name, or the only one in the namespace.
func One(ctx context.Context, s *Session, args []string) (inventory.Ref, error) {
	roots, all, err := Candidates(ctx, s)
	if err != nil {
		return inventory.Ref{}, err
	}
	candidates := all
	if len(args) == 0 {
		candidates = roots
	}
	chosen, err := Targets(candidates, s.Namespace, args)
	if err != nil {
		return inventory.Ref{}, err
	}
	if len(chosen) > 1 {
		return inventory.Ref{}, fmt.Errorf("namespace %s has several: specify one%s", s.Namespace, others(chosen))
	}
	return chosen[0], nil
}

// ControlPlane reads the ControlPlane that the reference names.
func ControlPlane(ctx context.Context, s *Session, ref inventory.Ref) (*c5c3v1alpha1.ControlPlane, error) {
	cp := &c5c3v1alpha1.ControlPlane{}
	err := s.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, cp)
	return cp, Explain(err)
}

// Keystone reads the Keystone that the reference names.
func Keystone(ctx context.Context, s *Session, ref inventory.Ref) (*keystonev1alpha1.Keystone, error) {
	k := &keystonev1alpha1.Keystone{}
	err := s.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, k)
	return k, Explain(err)
}

// Namespaces returns the namespaces that have a ControlPlane or a Keystone, in
// order.
func Namespaces(ctx context.Context, s *Session) ([]string, error) {
	r := &reader{Session: s, found: &inventory.Inventory{}}
	if err := r.readOwn(ctx); err != nil {
		return nil, err
	}
	if len(r.found.Gaps) > 0 {
		return nil, errors.New(r.found.Gaps[0])
	}
	var namespaces []string
	for i := range r.found.ControlPlanes {
		namespaces = append(namespaces, r.found.ControlPlanes[i].Namespace)
	}
	for i := range r.found.Keystones {
		namespaces = append(namespaces, r.found.Keystones[i].Namespace)
	}
	slices.Sort(namespaces)
	if namespaces = slices.Compact(namespaces); len(namespaces) == 0 {
		return nil, errors.New("there is no ControlPlane and no Keystone in the cluster")
	}
	return namespaces, nil
}
