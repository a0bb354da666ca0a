package controller

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/apitest"
	"github.com/c5c3/forge/internal/common/testutil/permission"
	barbicanv1alpha1 "github.com/c5c3/forge/operators/barbican/api/v1alpha1"
)

func TestEveryDocumentedReasonIsUsed(t *testing.T) {
	apitest.NothingIsDocumentedThatNothingSays(t, []string{"."}, "../../api/v1alpha1/conditions.go", "../../api/v1alpha1/events.go")
}

func TestTheMarkersPermitWhatTheControllerWatchesAndWrites(t *testing.T) {
	permission.Check(t, Controller.Scheme(), Controller.Watched(), "barbican_controller.go")
}

func TestThePipelineIsValid(t *testing.T) {
	if err := pipeline.Validate(); err != nil {
		t.Error(err)
	}
}

func TestTheKeyComesFromItsSecretAlone(t *testing.T) {
	b := &barbicanv1alpha1.Barbican{}
	b.Name, b.Namespace = "barbican", "openstack"
	b.Spec.Cache.Servers = []string{"one:11211"}
	barbicanv1alpha1.SetDefaults(b)
	s := service.NewScope(&service.Tools{}, &definition, b, struct{}{})
	_, files, err := settings.Render(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if strings.Contains(content, "[simple_crypto_plugin]") {
			t.Errorf("file %s of the ConfigMap has a key-encryption key", name)
		}
	}
	service.Config.Put(s.Slots, service.Rendered{ConfigMap: "barbican-config-01234567"})
	job, err := deployment.TaskJob(s.Pass, rewrap(s.Pass))
	if err != nil {
		t.Fatal(err)
	}
	if !mountsKey(job) {
		t.Errorf("the volumes are %+v", job.Spec.Template.Spec.Volumes)
	}
}

// mountsKey reports whether the pods have the key next to the configuration.
func mountsKey(job *batchv1.Job) bool {
	for _, volume := range job.Spec.Template.Spec.Volumes {
		if volume.Name != deployment.VolumeConfig || volume.Projected == nil {
			continue
		}
		for _, source := range volume.Projected.Sources {
			if source.Secret != nil && source.Secret.Name == "barbican-key-encryption-key" && source.Secret.Items[0].Path == "kek.conf" {
				return true
			}
		}
	}
	return false
}
