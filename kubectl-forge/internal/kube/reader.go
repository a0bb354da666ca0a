package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
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
	r.readReadiness(ctx)
	return r.found, r.readThirdParty(ctx)
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
				r.found.Services = append(r.found.Services, inventory.Instance{Resource: resource, Of: kind})
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

// readThirdParty reads the objects of other projects, and the secret store. The store is cluster-scoped, so
// that many users may not read it: that is no gap.
func (r *reader) readThirdParty(ctx context.Context) error {
	for _, kind := range inventory.ThirdPartyKinds {
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
		r.found.ThirdParty = append(r.found.ThirdParty, list.Items...)
	}
	store, err := Store(ctx, r.Session)
	if IsMissingRight(err) {
		return nil
	}
	r.found.Store = store
	return err
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
