package schema

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/image"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// workOn returns the work on a resource.
func workOn(t *testing.T, h *instance.Harbour) *work {
	t.Helper()
	w := full.work(instance.Pass(t, h, interceptor.Funcs{}))
	database.Connection.Put(w.Slots, database.Proven(w.Pass, "url", "hash"))
	return w
}

func TestAnImageIsCheckedBeforeItChangesTheSchema(t *testing.T) {
	held := func(version string) []commonv1.ImageStatus {
		return []commonv1.ImageStatus{{Reference: "ghcr.io/c5c3/harbour:2025.1", Version: version}}
	}
	for name, test := range map[string]struct {
		tag, installed string
		images         []commonv1.ImageStatus
		sync, expand   string
	}{
		"a first installation":       {"2025.2", "", nil, "image_check.py", "8"},
		"an unknown release":         {"2031.1", "2030.2", nil, "image_check.py", "image_check.py"},
		"no release":                 {"latest", "", nil, "image_check.py", "image_check.py"},
		"another build":              {"2025.1-b", "2025.1", held("7.1.0"), "7", "7"},
		"another build, unknown":     {"2025.1-b", "2025.1", held(""), "image_check.py", "7"},
		"another build, mislabelled": {"2025.1-b", "2025.1", held("8.0.0"), "image_check.py", "7"},

		"a first digest":                     {"2025.2@" + digest, "", nil, "8", "8"},
		"a digest of no release":             {"latest@" + digest, "", nil, "image_check.py", "image_check.py"},
		"a digest beside an installed tag":   {"2025.1@" + digest, "2025.1", held(""), "7", "7"},
		"a digest in place of a wrong image": {"2025.1@" + digest, "2025.1", held("8.0.0"), "7", "7"},
	} {
		h := instance.Brownfield()
		h.Spec.Image.Tag, h.Spec.Image.Digest, _ = strings.Cut(test.tag, "@")
		h.Status.InstalledRelease, h.Status.Images = test.installed, test.images
		w := workOn(t, h)
		for task, want := range map[*deployment.Task]string{new(w.syncTask()): test.sync, new(w.expandTask()): test.expand} {
			last := task.Init.Command[len(task.Init.Command)-1]
			if !strings.HasSuffix(last, want) || len(task.Failures) == 0 || task.Init.Name != image.Container {
				t.Errorf("%s: the check of %s is %q, want it to end in %s", name, task.Name, task.Init.Command, want)
			}
		}
	}
}

// digest is the digest of an image.
const digest = "sha256:abab"

func TestAnImageWhoseDigestChangesDuringAnUpgradeIsCheckedBeforePodsGetIt(t *testing.T) {
	for _, phase := range []commonv1.UpgradePhase{
		commonv1.UpgradePhaseMigrating, commonv1.UpgradePhaseRollingUpdate, commonv1.UpgradePhaseContracting,
	} {
		h := instance.Brownfield()
		h.Spec.Image.Digest = digest
		h.Status.InstalledRelease, h.Status.TargetRelease, h.Status.UpgradePhase = "2025.1", h.Spec.Image.Tag, phase
		w := workOn(t, h)
		w.Jobs.Events = w.Client
		outcome := w.report(w.followRelease(t.Context()))
		check := jobOf(w, TaskCheck, h.Spec.Image.Tag)
		if err := w.Client.Get(t.Context(), client.ObjectKeyFromObject(check), check); err != nil {
			t.Fatal(err)
		}
		command := check.Spec.Template.Spec.InitContainers[0].Command
		if w.proceed || outcome.Reason() != vocabulary.ReasonSchemaCheckInProgress || command[len(command)-1] != "8" {
			t.Errorf("%s: got %s: %s, with the check %q", phase, outcome.Reason(), outcome.Message(), command)
		}
		completeJobs(t, w)
		w = w.Schema.work(w.Pass)
		w.report(w.followRelease(t.Context()))
		if image.Found(w.Status, h.Spec.Image.Reference()) == nil {
			t.Errorf("%s: the check is not recorded", phase)
		}
		if outcome = w.report(w.followRelease(t.Context())); outcome.Reason() == vocabulary.ReasonSchemaCheckInProgress {
			t.Errorf("%s: got %s: %s after the check", phase, outcome.Reason(), outcome.Message())
		}
	}
}

func TestAnUpgradeFromAMislabelledImageIsRefused(t *testing.T) {
	for version, want := range map[string]string{"7.0.0": "", "": "", "99.0": "", "8.0.0": "holds 8.0.0 of Harbour, release 2025.2"} {
		h := instance.Brownfield()
		h.Status.InstalledRelease = "2025.1"
		h.Status.Images = []commonv1.ImageStatus{{Reference: "ghcr.io/c5c3/harbour:2025.1", Version: version}}
		err := workOn(t, h).refuseMislabelled()
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("with %q: got %v, want %q", version, err, want)
		}
	}
}
