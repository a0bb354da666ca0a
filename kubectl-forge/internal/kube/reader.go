package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// Read returns the ControlPlanes and the services of a namespace with their parts.
// What the user may not read is a gap, not an error. Neither is it one if none of our kinds can be
// read, if that is tolerated, as in the namespace of an operator. A kind that is not installed has no objects.
func Read(ctx context.Context, s *Session, namespace string, tolerant bool) (*inventory.Inventory, error) {
	r := &reader{Session: s, found: &inventory.Inventory{Now: time.Now(), Namespace: namespace}}
	if err := r.readOwn(ctx, tolerant); err != nil {
		return nil, err
	}
	if err := r.readBuiltIn(ctx); err != nil {
		return nil, err
	}
	return r.found, r.readForeign(ctx)
}

type reader struct {
	*Session
	found *inventory.Inventory
}

// readOwn reads the kinds of the operators. Unless tolerant, it is an error if none of those that can be
// a target can be read.
func (r *reader) readOwn(ctx context.Context, tolerant bool) error {
	var (
		controlPlanes c5c3v1alpha1.ControlPlaneList
		rotations     c5c3v1alpha1.CredentialRotationList
		aggregates    c5c3v1alpha1.SecretAggregateList
	)
	planes, err := r.list(ctx, &controlPlanes)
	if err != nil {
		return err
	}
	services, err := r.readServices(ctx)
	switch {
	case err != nil:
		return err
	case tolerant || planes || services:
	case len(r.found.Gaps) > 0:
		return r.found.Gaps[0]
	default:
		return errors.New("the cluster serves neither ControlPlanes nor a kind of service: install an operator, " +
			"or point --context at a cluster that has one")
	}
	if err := r.lists(ctx, &rotations, &aggregates); err != nil {
		return err
	}
	r.found.ControlPlanes, r.found.Rotations, r.found.Aggregates = controlPlanes.Items, rotations.Items, aggregates.Items
	return nil
}

// readServices reads the services, and reports whether one of their kinds could be read.
func (r *reader) readServices(ctx context.Context) (read bool, err error) {
	for _, kind := range inventory.ServiceKinds {
		list := kind.List()
		listed, err := r.list(ctx, list)
		if err != nil {
			return false, err
		}
		read = read || listed
		err = meta.EachListItem(list, func(item runtime.Object) error {
			if resource, is := item.(inventory.Resource); is {
				r.found.Services = append(r.found.Services, inventory.Service{Resource: resource, Of: kind})
			}
			return nil
		})
		if err != nil {
			return false, err
		}
	}
	return read, nil
}

func (r *reader) readBuiltIn(ctx context.Context) error {
	var (
		deployments appsv1.DeploymentList
		jobs        batchv1.JobList
		cronJobs    batchv1.CronJobList
		pods        corev1.PodList
		events      corev1.EventList
	)
	err := r.lists(ctx, &deployments, &jobs, &cronJobs, &pods, &events)
	r.found.Deployments, r.found.Jobs, r.found.CronJobs = deployments.Items, jobs.Items, cronJobs.Items
	r.found.Pods, r.found.Events = pods.Items, events.Items
	return err
}

// readForeign reads the objects of other projects, and the secret store. The store is cluster-scoped, so
// that many users may not read it: that is no gap.
func (r *reader) readForeign(ctx context.Context) error {
	for _, kind := range inventory.ForeignKinds {
		mapping, err := r.RESTMapper().RESTMapping(kind)
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("looking up the kind %s: %w", kind, err)
		}
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(mapping.GroupVersionKind)
		if _, err := r.list(ctx, list); err != nil {
			return err
		}
		r.found.Foreign = append(r.found.Foreign, list.Items...)
	}
	store, err := Store(ctx, r.Session)
	if IsMissingRight(err) {
		return nil
	}
	r.found.Store = store
	return err
}

// Store returns the ClusterSecretStore of the platform, nil when there is none. Its status
// is that of the store that External Secrets can check, if there is one.
func Store(ctx context.Context, c client.Reader) (*esov1.ClusterSecretStore, error) {
	store, checked := &esov1.ClusterSecretStore{}, &esov1.ClusterSecretStore{}
	err := c.Get(ctx, client.ObjectKey{Name: secrets.StoreName}, store)
	switch {
	case meta.IsNoMatchError(err) || apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if err = c.Get(ctx, client.ObjectKey{Name: secrets.CheckedStoreName}, checked); err == nil {
		store.Status = checked.Status
	}
	return store, client.IgnoreNotFound(err)
}

func (r *reader) lists(ctx context.Context, lists ...client.ObjectList) error {
	for _, list := range lists {
		if _, err := r.list(ctx, list); err != nil {
			return err
		}
	}
	return nil
}

// list fills the list from the namespace, or from all of them if it has no name.
func (r *reader) list(ctx context.Context, list client.ObjectList) (bool, error) {
	return ListVisible(ctx, r, list, &r.found.Gaps, client.InNamespace(r.found.Namespace))
}

// ListVisible fills the list, and reports whether it could be read. What the user may not list is added to
// the gaps. A kind that the cluster does not serve has no objects.
func ListVisible(
	ctx context.Context, c client.Reader, list client.ObjectList, gaps *[]error, options ...client.ListOption,
) (bool, error) {
	err := c.List(ctx, list, options...)
	switch {
	case IsMissingRight(err):
		*gaps = append(*gaps, err)
		return false, nil
	case meta.IsNoMatchError(err) || apierrors.IsNotFound(err):
		return false, nil
	case utilnet.IsConnectionRefused(err):
		return false, fmt.Errorf("the API server cannot be reached: %w; check KUBECONFIG, --kubeconfig and --context", err)
	}
	return err == nil, err
}

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

// Get reads the object that the reference names.
func Get[T client.Object](ctx context.Context, s *Session, ref inventory.Ref, into T) (T, error) {
	return into, s.Get(ctx, ref.Key(), into)
}

// ControlPlane reads the ControlPlane that the reference names.
func ControlPlane(ctx context.Context, s *Session, ref inventory.Ref) (*c5c3v1alpha1.ControlPlane, error) {
	return Get(ctx, s, ref, &c5c3v1alpha1.ControlPlane{})
}

// Keystone reads the Keystone that the reference names.
func Keystone(ctx context.Context, s *Session, ref inventory.Ref) (*keystonev1alpha1.Keystone, error) {
	return Get(ctx, s, ref, &keystonev1alpha1.Keystone{})
}

// Service reads the service that the reference names.
func Service(ctx context.Context, s *Session, ref inventory.Ref) (inventory.Service, error) {
	kind := inventory.ServiceKindOf(ref.Kind)
	resource, err := Get(ctx, s, ref, kind.Empty())
	return inventory.Service{Resource: resource, Of: kind}, err
}

// Target reads the ControlPlane or the service that the reference names.
func Target(ctx context.Context, s *Session, ref inventory.Ref) (inventory.Conditioned, error) {
	if ref.Kind == inventory.KindControlPlane {
		return ControlPlane(ctx, s, ref)
	}
	return Get[inventory.Resource](ctx, s, ref, inventory.ServiceKindOf(ref.Kind).Empty())
}

// KeystoneOf returns the reference to the Keystone of a ControlPlane, or to the Keystone itself.
func KeystoneOf(ref inventory.Ref) inventory.Ref {
	if ref.Kind == inventory.KindControlPlane {
		cp := &c5c3v1alpha1.ControlPlane{}
		cp.Name = ref.Name
		ref.Kind, ref.Name = inventory.KindKeystone, cp.KeystoneName()
	}
	return ref
}

// ServicesOf reads the services that the ControlPlane owns. What the user may not read is
// an error.
func ServicesOf(ctx context.Context, s *Session, cp *c5c3v1alpha1.ControlPlane) ([]inventory.Service, error) {
	r := &reader{Session: s, found: &inventory.Inventory{Namespace: cp.Namespace}}
	if _, err := r.readServices(ctx); err != nil {
		return nil, err
	}
	if len(r.found.Gaps) > 0 {
		return nil, r.found.Gaps[0]
	}
	return r.found.ServicesOf(cp), nil
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

// PodsOf reads the pods of a Job.
func PodsOf(ctx context.Context, s *Session, run *batchv1.Job) ([]corev1.Pod, error) {
	var pods corev1.PodList
	err := s.List(ctx, &pods, client.InNamespace(run.Namespace), client.MatchingLabels{batchv1.JobNameLabel: run.Name})
	return pods.Items, err
}
