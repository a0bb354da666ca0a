package crdwatch

import (
	"context"
	"fmt"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// lag is how long the API server may take to serve a new definition, or
	// to stop serving a deleted one.
	lag = 10 * time.Second
	// lagInterval is the initial interval between two checks; it grows.
	lagInterval = time.Second
	// calmInterval is the interval between two checks while the definitions are watched
	// and do not change.
	calmInterval = 10 * time.Minute
)

var definitionsResource = schema.GroupVersionResource{
	Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
}

// definitions reports when CustomResourceDefinitions of some groups are created, changed or
// deleted, if the operator may watch them.
type definitions struct {
	access   authorization.SelfSubjectAccessReviewInterface
	informer cache.SharedIndexInformer
	changes  chan struct{}
}

func newDefinitions(mgr ctrl.Manager, groups map[string]bool) (*definitions, error) {
	config, client := mgr.GetConfig(), mgr.GetHTTPClient()
	access, err := authorization.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("creating the client for access reviews: %w", err)
	}
	identities, err := metadata.NewForConfigAndClient(metadata.ConfigFor(config), client)
	if err != nil {
		return nil, fmt.Errorf("creating the client for the metadata of CustomResourceDefinitions: %w", err)
	}
	d := &definitions{
		access:   access.SelfSubjectAccessReviews(),
		informer: metadatainformer.NewFilteredMetadataInformer(identities, definitionsResource, "", 0, nil, nil).Informer(),
		changes:  make(chan struct{}, 1),
	}
	if err := d.informer.SetTransform(keepName); err != nil {
		return nil, fmt.Errorf("limiting what is kept of CustomResourceDefinitions: %w", err)
	}
	concerned := func(obj any) {
		if deleted, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = deleted.Obj
		}
		if definition, ok := obj.(*metav1.PartialObjectMetadata); ok && groups[groupOf(definition.Name)] {
			d.announce()
		}
	}
	// Handle the initial list as well: its definitions may have been created after
	// the kinds were looked up.
	_, err = d.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: concerned, UpdateFunc: func(_, obj any) { concerned(obj) }, DeleteFunc: concerned,
	})
	if err != nil {
		return nil, fmt.Errorf("watching CustomResourceDefinitions: %w", err)
	}
	return d, nil
}

// groupOf returns the group of a definition, which is named <plural>.<group>.
func groupOf(name string) string {
	_, group, _ := strings.Cut(name, ".")
	return group
}

// keepName drops everything that is not read.
func keepName(obj any) (any, error) {
	if definition, ok := obj.(*metav1.PartialObjectMetadata); ok {
		definition.ObjectMeta = metav1.ObjectMeta{
			Name: definition.Name, UID: definition.UID, ResourceVersion: definition.ResourceVersion,
		}
	}
	return obj, nil
}

func (d *definitions) announce() {
	select {
	case d.changes <- struct{}{}:
	default:
	}
}

// watch watches until ctx ends. Without the permission it does nothing: the
// informer would retry in vain forever.
func (d *definitions) watch(ctx context.Context) {
	allowed, err := d.mayWatch(ctx)
	if !allowed {
		log.FromContext(ctx).Info("CustomResourceDefinitions are not watched, so the kinds of the API server are polled",
			"error", err)
		return
	}
	go d.informer.RunWithContext(ctx)
}

func (d *definitions) mayWatch(ctx context.Context) (bool, error) {
	for _, verb := range []string{"list", "watch"} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Group: definitionsResource.Group, Resource: definitionsResource.Resource, Verb: verb,
			},
		}}
		answer, err := d.access.Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return false, fmt.Errorf("asking for the right to %s CustomResourceDefinitions: %w", verb, err)
		}
		if !answer.Status.Allowed {
			return false, nil
		}
	}
	return true, nil
}

// watching reports whether changes are announced.
func (d *definitions) watching() bool { return d.informer.HasSynced() && !d.informer.IsStopped() }
