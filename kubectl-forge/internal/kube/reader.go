package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/poddiag"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// Read returns the ControlPlanes and the services of a namespace with their parts.
// What the user may not read is a gap, not an error, unless none of our kinds can be
// read. A kind that is not installed has no objects.
func Read(ctx context.Context, s *Session, namespace string) (*inventory.Inventory, error) {
	return readAll(ctx, &reader{Session: s, found: &inventory.Inventory{Now: time.Now(), Namespace: namespace}})
}

// ReadAny is [Read] for a namespace without ControlPlanes or services, such as that of
// an operator.
func ReadAny(ctx context.Context, s *Session, namespace string) (*inventory.Inventory, error) {
	return readAll(ctx, &reader{Session: s, found: &inventory.Inventory{Now: time.Now(), Namespace: namespace}, lenient: true})
}

func readAll(ctx context.Context, r *reader) (*inventory.Inventory, error) {
	if err := r.readOwn(ctx); err != nil {
		return nil, err
	}
	if err := r.readBuiltIn(ctx); err != nil {
		return nil, err
	}
	r.readReadiness(ctx)
	if err := r.readForeign(ctx); err != nil {
		return nil, err
	}
	return r.found, nil
}

type reader struct {
	*Session
	found *inventory.Inventory
	// lenient is set if it is not an error that none of our kinds can be read.
	lenient bool
}

// readOwn reads the kinds of the operators.
func (r *reader) readOwn(ctx context.Context) error {
	var controlPlanes c5c3v1alpha1.ControlPlaneList
	var rotations c5c3v1alpha1.CredentialRotationList
	var aggregates c5c3v1alpha1.SecretAggregateList
	planes, err := r.list(ctx, &controlPlanes)
	if err != nil {
		return err
	}
	services, err := r.readServices(ctx)
	switch {
	case err != nil:
		return err
	case r.lenient:
	case planes == absent && !slices.ContainsFunc(services, func(o outcome) bool { return o != absent }):
		return errors.New("the cluster serves neither ControlPlanes nor a kind of service: install an operator, " +
			"or point --context at a cluster that has one")
	case planes != read && !slices.Contains(services, read):
		return r.refused(planes, services)
	}
	for _, list := range []client.ObjectList{&rotations, &aggregates} {
		if _, err := r.list(ctx, list); err != nil {
			return err
		}
	}
	r.found.ControlPlanes = controlPlanes.Items
	r.found.Rotations, r.found.Aggregates = rotations.Items, aggregates.Items
	return nil
}

// readServices reads the services and returns the outcome for each of their kinds.
func (r *reader) readServices(ctx context.Context) ([]outcome, error) {
	outcomes := make([]outcome, 0, len(inventory.ServiceKinds))
	for _, kind := range inventory.ServiceKinds {
		list, items := kind.List()
		result, err := r.list(ctx, list)
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, result)
		for _, resource := range items() {
			r.found.Services = append(r.found.Services, inventory.Service{Resource: resource, Of: kind})
		}
	}
	return outcomes, nil
}

// refused returns the error for the case that none of our kinds can be read.
func (r *reader) refused(planes outcome, services []outcome) error {
	right := Right{Verb: "list", Resource: "controlplanes", Group: c5c3v1alpha1.GroupVersion.Group, Namespace: r.found.Namespace}
	if planes != forbidden {
		kind := inventory.ServiceKinds[slices.Index(services, forbidden)]
		right.Resource, right.Group = kind.Plural, kind.Group
	}
	return &MissingRightError{Right: right}
}

func (r *reader) readBuiltIn(ctx context.Context) error {
	var (
		deployments appsv1.DeploymentList
		jobs        batchv1.JobList
		cronJobs    batchv1.CronJobList
		pods        corev1.PodList
		events      corev1.EventList
	)
	for _, list := range []client.ObjectList{&deployments, &jobs, &cronJobs, &pods, &events} {
		if _, err := r.list(ctx, list); err != nil {
			return err
		}
	}
	r.found.Deployments, r.found.Jobs, r.found.CronJobs = deployments.Items, jobs.Items, cronJobs.Items
	r.found.Pods, r.found.Events = pods.Items, events.Items
	return nil
}

// readReadiness reads from the logs of API pods why they are not ready. A log that cannot
// be read is no gap here: the report quotes logs, too, and says so.
func (r *reader) readReadiness(ctx context.Context) {
	r.found.Unready = map[types.UID]string{}
	logs := map[string]int{}
	for i := range r.found.Pods {
		pod := &r.found.Pods[i]
		container := poddiag.Unready(pod)
		service := pod.Labels["app.kubernetes.io/name"] + "/" + pod.Labels["app.kubernetes.io/instance"]
		if container == "" || logs[service] == maxUnready {
			continue
		}
		logs[service]++
		request := LogRequest{Namespace: pod.Namespace, Pod: pod.Name, Container: container, Lines: readinessLines}
		if log, err := r.Logs.Read(ctx, request); err == nil {
			if reason := poddiag.UnreadyReason(log); reason != "" {
				r.found.Unready[pod.UID] = reason
			}
		}
	}
}

const (
	// maxUnready bounds how many logs are read of each service: its pods mostly have the
	// same reason.
	maxUnready = 3
	// readinessLines is how many lines of a log are read. The reason is repeated with each
	// probe, and there may be tracebacks in between.
	readinessLines = 400
)

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
	return r.readStore(ctx)
}

// readStore reads the secret store, which is cluster-scoped, so that many users
// may not read it. This is reported only if a condition blames the store.
func (r *reader) readStore(ctx context.Context) error {
	store, err := Store(ctx, r.Session)
	if _, missing := errors.AsType[*MissingRightError](err); missing {
		return nil
	}
	r.found.Store = store
	return err
}

// Store returns the ClusterSecretStore of the platform, nil when there is none. Its status
// is that of the store that External Secrets can check, if there is one.
func Store(ctx context.Context, s *Session) (*unstructured.Unstructured, error) {
	mapping, err := s.RESTMapper().RESTMapping(inventory.StoreKind)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	store := &unstructured.Unstructured{}
	store.SetGroupVersionKind(mapping.GroupVersionKind)
	err = s.Get(ctx, client.ObjectKey{Name: secrets.StoreName}, store)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, Explain(err)
	}
	checked := &unstructured.Unstructured{}
	checked.SetGroupVersionKind(mapping.GroupVersionKind)
	switch err = s.Get(ctx, client.ObjectKey{Name: secrets.CheckedStoreName}, checked); {
	case apierrors.IsNotFound(err):
		return store, nil
	case err != nil:
		return nil, Explain(err)
	}
	store.Object["status"] = checked.Object["status"]
	return store, nil
}

// outcome is the result of a request.
type outcome int

const (
	read outcome = iota
	absent
	forbidden
)

// list fills the list from the namespace. What the user may not list becomes a
// gap.
func (r *reader) list(ctx context.Context, list client.ObjectList) (outcome, error) {
	// An empty name means all namespaces.
	err := r.List(ctx, list, client.InNamespace(r.found.Namespace))
	var missing *MissingRightError
	switch {
	case err == nil:
		return read, nil
	case meta.IsNoMatchError(err) || apierrors.IsNotFound(err):
		return absent, nil
	case errors.As(Explain(err), &missing):
		r.found.Gaps = append(r.found.Gaps, missing.Error())
		return forbidden, nil
	}
	if utilnet.IsConnectionRefused(err) {
		return read, fmt.Errorf("the API server cannot be reached: %w; check KUBECONFIG, --kubeconfig and --context", err)
	}
	return read, fmt.Errorf("listing %s: %w", kindOf(list, r.Session), err)
}

func kindOf(list client.ObjectList, s *Session) schema.GroupKind {
	gvk, err := s.GroupVersionKindFor(list)
	if err != nil {
		return schema.GroupKind{Kind: fmt.Sprintf("%T", list)}
	}
	return schema.GroupKind{Group: gvk.Group, Kind: strings.TrimSuffix(gvk.Kind, "List")}
}
