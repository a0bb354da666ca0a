package conformance

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/database/schema"
	"github.com/c5c3/forge/internal/common/testutil/children"
	"github.com/c5c3/forge/internal/common/testutil/crashwalk"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// crossing is what a walk through an upgrade is judged by.
type crossing struct {
	Status   commonv1.ServiceStatus
	Runs     map[string]int
	Children []string
	Image    string
	Replicas int32
}

func (s suite[T]) crossed(ctx context.Context, namespace string) (crossing, error) {
	resource := s.New(namespace, s.Definition.CodeName)
	if err := s.Admin.Get(ctx, client.ObjectKeyFromObject(resource), resource); err != nil {
		return crossing{}, err
	}
	deploy := &appsv1.Deployment{}
	if err := s.Admin.Get(ctx, client.ObjectKeyFromObject(resource), deploy); err != nil {
		return crossing{}, err
	}
	found, err := children.Find(ctx, s.Admin, s.Definition, namespace)
	status := *resource.ServiceStatus()
	status.Conditions, status.Endpoint = nil, ""
	c := crossing{
		Status: status, Runs: map[string]int{}, Children: children.Names(found),
		Image: deploy.Spec.Template.Spec.Containers[0].Image, Replicas: ptr.Deref(deploy.Spec.Replicas, -1),
	}
	for _, task := range []string{schema.TaskSync, schema.TaskCheck, schema.TaskExpand, schema.TaskMigrate, schema.TaskContract} {
		c.Runs[task] = len(s.Jobs.Runs(namespace, resource.GetName()+"-"+task))
	}
	return c, err
}

// wayToRelease is the walk of a resource to the release of the tag.
func (s suite[T]) wayToRelease(t *testing.T, tag string, annotations map[string]string, jobs int) crashwalk.Scenario[crossing] {
	t.Helper()
	status := "update " + s.resourceOf(t, s.Definition.Kind) + "/status"
	if s.hasUser() {
		jobs++
	}
	trial := s.trial(t, brownfield)
	change := func(ctx context.Context, namespace string) error {
		resource := trial.New(namespace)
		if err := s.Admin.Get(ctx, client.ObjectKeyFromObject(resource), resource); err != nil {
			return err
		}
		changed := resource.DeepCopyObject().(T)
		changed.SetAnnotations(annotations)
		changed.ServiceSpec().Image.Tag = tag
		return s.Admin.Patch(ctx, changed, client.MergeFrom(resource))
	}
	return crashwalk.Scenario[crossing]{
		Config: s.AsOperator,
		// One status for the first phase, one in between and one for the end: how many there are
		// depends on the service.
		Writes:   map[string]int{status: 3, "create jobs.batch": jobs, "apply deployments.apps": 1},
		Prepare:  func(ctx context.Context) (string, error) { return trial.Changed(ctx, change) },
		Operator: trial.Operate,
		Settled: func(ctx context.Context, namespace string) error {
			state, err := s.crossed(ctx, namespace)
			if err != nil {
				return err
			}
			if state.Status.ObservedGeneration != 2 || state.Status.InstalledRelease != tag || state.Status.UpgradePhase != "" {
				return fmt.Errorf("the status is %+v", state.Status)
			}
			return trial.Converged(ctx, namespace)
		},
		Observe: s.crossed,
		Compare: func(undisturbed, _, final crossing) string { return cmp.Diff(undisturbed, final) },
	}
}

// wayOnline is the walk through an upgrade to the next release.
func (s suite[T]) wayOnline(t *testing.T) crashwalk.Scenario[crossing] {
	t.Helper()
	jobs := 4
	for _, task := range []string{schema.TaskMigrate, schema.TaskContract} {
		if s.skips(task) {
			jobs--
		}
	}
	return s.wayToRelease(t, after(s.New("", "").ServiceSpec().Image.Tag, 1), nil, jobs)
}

// wayOffline is the walk through an offline upgrade over several releases.
func (s suite[T]) wayOffline(t *testing.T) crashwalk.Scenario[crossing] {
	t.Helper()
	tag, jobs := after(s.New("", "").ServiceSpec().Image.Tag, 9), 3
	if s.MigratesAfterSync {
		jobs++
	}
	way := s.wayToRelease(t, tag, map[string]string{commonv1.AnnotationOfflineUpgrade: tag}, jobs)
	way.Writes["apply deployments.apps"] = 2
	return way
}
