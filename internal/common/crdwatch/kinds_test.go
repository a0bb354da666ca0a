package crdwatch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

var (
	job        = batchv1.SchemeGroupVersion.WithKind("Job")
	deployment = appsv1.SchemeGroupVersion.WithKind("Deployment")
)

// silent is the status of an API server that never answers.
const silent = 0

// discoveryAPI maps each kind to the status of the answer about its group version;
// http.StatusOK means that the kind is served.
type discoveryAPI map[schema.GroupVersionKind]int

func (d discoveryAPI) RoundTrip(request *http.Request) (*http.Response, error) {
	for kind, status := range d {
		if request.URL.Path != "/apis/"+kind.GroupVersion().String() {
			continue
		}
		if status == silent {
			<-request.Context().Done()
			return nil, request.Context().Err()
		}
		body, err := json.Marshal(metav1.APIResourceList{
			GroupVersion: kind.GroupVersion().String(), APIResources: []metav1.APIResource{{Name: "things", Kind: kind.Kind}},
		})
		if status != http.StatusOK {
			body = nil
		}
		return &http.Response{
			StatusCode: status, Request: request, Body: io.NopCloser(bytes.NewReader(body)),
			Header: http.Header{"Content-Type": {"application/json"}},
		}, err
	}
	return nil, http.ErrNotSupported
}

// cluster is a fake cluster that records what Kinds does to it.
type cluster struct {
	api     discoveryAPI
	kinds   *Kinds
	watches atomic.Int32
	changes atomic.Int32
	added   int
	// removed lists the kinds whose informer was stopped, stillServed those of them
	// that counted as served at that moment.
	removed, stillServed []string
	// unmapped makes the cache one that is limited to namespaces and whose mapper
	// knows no kind.
	unmapped bool
}

type fakeManager struct {
	manager.Manager
	*cluster
}

func (f fakeManager) GetConfig() *rest.Config     { return &rest.Config{Host: "http://cluster", QPS: -1} }
func (f fakeManager) GetHTTPClient() *http.Client { return &http.Client{Transport: f.api} }
func (f fakeManager) GetScheme() *runtime.Scheme  { return clientgoscheme.Scheme }
func (f fakeManager) GetCache() cache.Cache       { return fakeCache{cluster: f.cluster} }

func (f fakeManager) Add(manager.Runnable) error {
	f.added++
	return nil
}

type fakeCache struct {
	cache.Cache
	*cluster
}

func (f fakeCache) RemoveInformer(_ context.Context, obj client.Object) error {
	kinds, _, err := clientgoscheme.Scheme.ObjectKinds(obj)
	if err != nil {
		return err
	}
	if f.unmapped {
		return fmt.Errorf("failed to get restmapping: %w", &meta.NoKindMatchError{GroupKind: kinds[0].GroupKind()})
	}
	f.removed = append(f.removed, kinds[0].Kind)
	if f.kinds.Served(kinds[0]) {
		f.stillServed = append(f.stillServed, kinds[0].Kind)
	}
	return nil
}

type fakeController struct {
	controller.Controller
	*cluster
}

func (f fakeController) Watch(source.TypedSource[reconcile.Request]) error {
	f.watches.Add(1)
	return nil
}

// bind starts to track Jobs and Deployments in a cluster that serves Deployments
// and answers queries about Jobs with the given status.
func bind(t *testing.T, jobs int) *cluster {
	t.Helper()
	return bindTo(t, &cluster{api: discoveryAPI{job: jobs, deployment: http.StatusOK}})
}

func bindTo(t *testing.T, c *cluster) *cluster {
	t.Helper()
	var err error
	if c.kinds, err = New(fakeManager{cluster: c}); err != nil {
		t.Fatal(err)
	}
	err = c.kinds.Bind(t.Context(), fakeController{cluster: c}, []Watch{
		{Object: &batchv1.Job{}, Handler: &handler.EnqueueRequestForObject{}},
		{Object: &appsv1.Deployment{}, Handler: &handler.EnqueueRequestForObject{}},
	}, func() { c.changes.Add(1) })
	if err != nil {
		t.Fatalf("the operator does not start: %v", err)
	}
	if c.added != 1 {
		t.Fatalf("the tracker was added %d times, want once", c.added)
	}
	return c
}

// look queries the cluster again, which now answers queries about Jobs with the
// given status.
func (c *cluster) look(t *testing.T, jobs int) {
	t.Helper()
	c.api[job] = jobs
	if err := c.kinds.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) expect(t *testing.T, jobs bool, watches, changes int32) {
	t.Helper()
	if got := c.kinds.Served(job); got != jobs {
		t.Errorf("Job counts as served: %t, want %t", got, jobs)
	}
	if !c.kinds.Served(deployment) {
		t.Error("Deployment does not count as served")
	}
	if started, announced := c.watches.Load(), c.changes.Load(); started != watches || announced != changes {
		t.Errorf("%d watches were started and %d changes announced, want %d and %d", started, announced, watches, changes)
	}
}

func TestAKindIsWatchedWheneverItsCRDIsInstalled(t *testing.T) {
	c := bind(t, http.StatusNotFound)
	c.expect(t, false, 1, 1)
	c.look(t, http.StatusOK)
	c.expect(t, true, 2, 2)
	c.look(t, http.StatusOK)
	c.expect(t, true, 2, 2)
	c.look(t, http.StatusNotFound)
	c.expect(t, false, 2, 3)
	c.look(t, http.StatusOK)
	c.expect(t, true, 3, 4)
}

func TestAKindDoesNotCountAsServedWhenItsInformerStops(t *testing.T) {
	c := bind(t, http.StatusOK)
	c.look(t, http.StatusNotFound)
	if !slices.Equal(c.removed, []string{"Job"}) || len(c.stillServed) > 0 {
		t.Errorf("stopped the informers of %q, of which %q counted as served; want Job's and none", c.removed, c.stillServed)
	}
}

func TestAnInformerStartedAfterCRDRemovalIsStopped(t *testing.T) {
	c := bind(t, http.StatusOK)
	c.look(t, http.StatusNotFound)
	c.removed = nil
	c.look(t, http.StatusNotFound)
	if !slices.Equal(c.removed, []string{"Job"}) {
		t.Errorf("stopped the informers of %q, want Job's", c.removed)
	}
}

// waiting is a client whose reads block like those of a cache whose informer never
// syncs.
type waiting struct {
	client.Client
	reads chan struct{}
}

func (w waiting) Scheme() *runtime.Scheme { return clientgoscheme.Scheme }

func (w waiting) Get(ctx context.Context, _ client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return w.wait(ctx)
}

func (w waiting) List(ctx context.Context, _ client.ObjectList, _ ...client.ListOption) error {
	return w.wait(ctx)
}

func (w waiting) wait(ctx context.Context) error {
	w.reads <- struct{}{}
	<-ctx.Done()
	return errors.New("the informer is not ready")
}

// reads are all ways to read a Job.
var reads = map[string]func(context.Context, client.Client) error{
	"get": func(ctx context.Context, c client.Client) error {
		return c.Get(ctx, client.ObjectKey{Name: "job"}, &batchv1.Job{})
	},
	"list": func(ctx context.Context, c client.Client) error { return c.List(ctx, &batchv1.JobList{}) },
}

func TestAReadEndsWhenTheInformerThatItWaitsForIsStopped(t *testing.T) {
	for name, read := range reads {
		t.Run(name, func(t *testing.T) {
			c := bind(t, http.StatusOK)
			w, result := waiting{reads: make(chan struct{})}, make(chan error)
			go func() { result <- read(t.Context(), c.kinds.Client(w)) }()
			<-w.reads
			c.look(t, http.StatusNotFound)
			if err := <-result; !meta.IsNoMatchError(err) {
				t.Errorf("the read of a kind that went ended with %v, want that there is no such kind", err)
			}
			if readers := len(c.kinds.readers[job]); readers != 0 {
				t.Errorf("%d reads still count as under way", readers)
			}
		})
	}
}

func TestAReadOfAKindThatIsNotServedFailsAtOnce(t *testing.T) {
	for name, read := range reads {
		t.Run(name, func(t *testing.T) {
			c := bind(t, http.StatusNotFound)
			if err := read(t.Context(), c.kinds.Client(waiting{})); !meta.IsNoMatchError(err) {
				t.Errorf("the read ended with %v, want that there is no such kind", err)
			}
		})
	}
}

func TestACancelledReadReturnsTheErrorOfTheCache(t *testing.T) {
	for name, read := range reads {
		t.Run(name, func(t *testing.T) {
			c := bind(t, http.StatusOK)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			err := read(ctx, c.kinds.Client(waiting{reads: make(chan struct{}, 1)}))
			if err == nil || meta.IsNoMatchError(err) {
				t.Errorf("the read ended with %v, want the error of the cache", err)
			}
		})
	}
}

func TestANamespacedOperatorStartsWithoutAKindInItsRESTMapper(t *testing.T) {
	c := bindTo(t, &cluster{api: discoveryAPI{job: http.StatusNotFound, deployment: http.StatusOK}, unmapped: true})
	c.expect(t, false, 1, 1)
}

func TestAnOperatorStartsDespiteFailingDiscovery(t *testing.T) {
	for name, status := range map[string]int{
		"internal error": http.StatusInternalServerError, "bad gateway": http.StatusBadGateway,
		"unavailable": http.StatusServiceUnavailable, "forbidden": http.StatusForbidden, "silence": silent,
	} {
		t.Run(name, func(t *testing.T) {
			// In virtual time the timeout expires at once.
			synctest.Test(t, func(t *testing.T) {
				c := bind(t, status)
				c.expect(t, false, 1, 1)
				c.look(t, http.StatusOK)
				c.expect(t, true, 2, 2)
			})
		})
	}
}

func TestAKindStaysServedWhileDiscoveryFails(t *testing.T) {
	c := bind(t, http.StatusOK)
	c.look(t, http.StatusInternalServerError)
	c.expect(t, true, 2, 1)
	if len(c.removed) > 0 {
		t.Errorf("stopped the informers of %q, want none", c.removed)
	}
}

func TestAKindThatTheSchemeLacksIsAnError(t *testing.T) {
	c := bind(t, http.StatusOK)
	if err := c.kinds.Bind(t.Context(), fakeController{cluster: c}, []Watch{{Object: &metav1.PartialObjectMetadata{}}}, nil); err == nil {
		t.Error("no error for a kind that the scheme lacks")
	}
}

func TestEachControllerWatchesAKindThatSeveralDeclare(t *testing.T) {
	c := bind(t, http.StatusNotFound)
	told := 0
	err := c.kinds.Bind(t.Context(), fakeController{cluster: c}, []Watch{
		{Object: &batchv1.Job{}, Handler: &handler.EnqueueRequestForObject{}},
	}, func() { told++ })
	if err != nil {
		t.Fatal(err)
	}
	c.look(t, http.StatusOK)
	c.expect(t, true, 3, 2)
	c.look(t, http.StatusNotFound)
	c.expect(t, false, 3, 3)
	if told != 2 {
		t.Errorf("the second controller was told of %d changes, want 2", told)
	}
}

func TestANewKindIsDetectedWithoutPermissionToWatchCRDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := bind(t, http.StatusNotFound)
		c.api[job] = http.StatusOK
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.kinds.Start(ctx) }()
		<-time.After(DefaultInterval - time.Second)
		synctest.Wait()
		c.expect(t, false, 1, 1)
		<-time.After(2 * time.Second)
		synctest.Wait()
		c.expect(t, true, 2, 2)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestDiscoveryIsPolledMoreOftenAfterACRDChange(t *testing.T) {
	for since, want := range map[time.Duration]time.Duration{
		0: lagInterval, 4 * time.Second: 4 * time.Second, lag: calmInterval, time.Hour: calmInterval,
	} {
		if got := pauseAfter(since); got != want {
			t.Errorf("%s after a change the pause is %s, want %s", since, got, want)
		}
	}
	groups := map[string]string{"mariadbs.k8s.mariadb.com": "k8s.mariadb.com", "services": ""}
	for name, want := range groups {
		if got := groupOf(name); got != want {
			t.Errorf("%s is of group %q, want %q", name, got, want)
		}
	}
}

func TestTheDefaultDiscoveryIntervalIsOneMinute(t *testing.T) {
	kinds := &Kinds{}
	for given, want := range map[time.Duration]time.Duration{0: time.Minute, time.Second: time.Second} {
		if kinds.SetInterval(given); kinds.interval != want {
			t.Errorf("given %s the interval is %s", given, kinds.interval)
		}
	}
}
