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

// kinds maps kubectl's names of our kinds, without their group.
var kinds = func() map[string]string {
	names := map[string]string{"controlplane": inventory.KindControlPlane, "controlplanes": inventory.KindControlPlane}
	for _, kind := range inventory.ServiceKinds {
		names[strings.ToLower(kind.Kind)], names[kind.Plural] = kind.Kind, kind.Kind
	}
	return names
}()

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
		return "", "", fmt.Errorf("%q names no object that the command knows: write %s", arg, inventory.TargetForms())
	}
	return kind, name, nil
}

// Targets returns the candidates that the arguments name, or all of them
// if there are no arguments.
func Targets(candidates []inventory.Ref, namespace string, args []string) ([]inventory.Ref, error) {
	if len(args) == 0 {
		if len(candidates) == 0 {
			return nil, fmt.Errorf("there is no ControlPlane and no service in namespace %s; choose another namespace with --namespace", namespace)
		}
		return candidates, nil
	}
	var chosen []inventory.Ref
	for _, arg := range args {
		ref, err := named(candidates, namespace, arg)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, ref)
	}
	return chosen, nil
}

// named returns the candidate that the argument names.
func named(candidates []inventory.Ref, namespace, arg string) (inventory.Ref, error) {
	kind, name, err := ParseTarget(arg)
	if err != nil {
		return inventory.Ref{}, err
	}
	n := slices.IndexFunc(candidates, func(ref inventory.Ref) bool {
		return ref.Name == name && (kind == "" || ref.Kind == kind)
	})
	if n < 0 {
		return inventory.Ref{}, fmt.Errorf("there is no %s in namespace %s%s", arg, namespace, others(candidates))
	}
	return candidates[n], nil
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

// Candidates returns all ControlPlanes and services of the session's namespace,
// without their parts.
func Candidates(ctx context.Context, s *Session) (roots, all []inventory.Ref, err error) {
	r := &reader{Session: s, found: &inventory.Inventory{Namespace: s.Namespace}}
	if err := r.readOwn(ctx); err != nil {
		return nil, nil, err
	}
	return r.found.Roots(), All(r.found), nil
}

// All returns every ControlPlane and every service, the former first.
func All(found *inventory.Inventory) []inventory.Ref {
	all := make([]inventory.Ref, 0, len(found.ControlPlanes)+len(found.Services))
	for i := range found.ControlPlanes {
		all = append(all, inventory.Ref{Kind: inventory.KindControlPlane, Namespace: found.Namespace, Name: found.ControlPlanes[i].Name})
	}
	for _, service := range found.Services {
		all = append(all, service.Ref())
	}
	return all
}

// One returns the single object that the arguments name, or the only one in the namespace.
// With accepted kinds, objects of other kinds are ignored, and naming one is an error.
func One(ctx context.Context, s *Session, args []string, accepted ...string) (inventory.Ref, error) {
	roots, all, err := Candidates(ctx, s)
	if err != nil {
		return inventory.Ref{}, err
	}
	refused := func(ref inventory.Ref) bool { return len(accepted) > 0 && !slices.Contains(accepted, ref.Kind) }
	candidates := all
	if len(args) == 0 {
		candidates = slices.DeleteFunc(slices.Clone(roots), refused)
	}
	if len(args) == 0 && len(candidates) == 0 && len(roots) > 0 {
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

// ControlPlane reads the ControlPlane that the reference names.
func ControlPlane(ctx context.Context, s *Session, ref inventory.Ref) (*c5c3v1alpha1.ControlPlane, error) {
	cp := &c5c3v1alpha1.ControlPlane{}
	err := s.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, cp)
	return cp, Explain(err)
}

// Service reads the service that the reference names.
func Service(ctx context.Context, s *Session, ref inventory.Ref) (inventory.Service, error) {
	kind := inventory.ServiceKindOf(ref.Kind)
	if kind == nil {
		return inventory.Service{}, fmt.Errorf("%s is not a service", ref.Arg())
	}
	service := inventory.Service{Resource: kind.Empty(), Of: kind}
	err := s.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, service.Resource)
	return service, Explain(err)
}

// Keystone reads the Keystone with the name.
func Keystone(ctx context.Context, s *Session, namespace, name string) (*keystonev1alpha1.Keystone, error) {
	k := &keystonev1alpha1.Keystone{}
	err := s.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, k)
	return k, Explain(err)
}

// ServicesOf reads the services that the ControlPlane owns. What the user may not read is
// an error.
func ServicesOf(ctx context.Context, s *Session, cp *c5c3v1alpha1.ControlPlane) ([]inventory.Service, error) {
	r := &reader{Session: s, found: &inventory.Inventory{Namespace: cp.Namespace}}
	if _, err := r.readServices(ctx); err != nil {
		return nil, err
	}
	if len(r.found.Gaps) > 0 {
		return nil, errors.New(r.found.Gaps[0])
	}
	return r.found.ServicesOf(cp), nil
}

// Namespaces returns the namespaces that have a ControlPlane or a service, in order.
func Namespaces(ctx context.Context, s *Session) ([]string, error) {
	r := &reader{Session: s, found: &inventory.Inventory{}}
	if err := r.readOwn(ctx); err != nil {
		return nil, err
	}
	if len(r.found.Gaps) > 0 {
		return nil, errors.New(r.found.Gaps[0])
	}
	namespaces := namespacesOf(r.found)
	if len(namespaces) == 0 {
		return nil, errors.New("there is no ControlPlane and no service in the cluster")
	}
	return namespaces, nil
}

func namespacesOf(found *inventory.Inventory) []string {
	namespaces := make([]string, 0, len(found.ControlPlanes)+len(found.Services))
	for i := range found.ControlPlanes {
		namespaces = append(namespaces, found.ControlPlanes[i].Namespace)
	}
	for _, service := range found.Services {
		namespaces = append(namespaces, service.GetNamespace())
	}
	slices.Sort(namespaces)
	return slices.Compact(namespaces)
}
