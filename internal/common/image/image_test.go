package image

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// passOf returns a pass over a resource with that tag.
func passOf(tag string) *service.Pass {
	h := instance.Brownfield()
	h.Spec.Image.Tag = tag
	return service.NewPass(&service.Tools{}, &instance.Definition, h)
}

// checked returns a pod that has looked into an image and ended with the exit code.
func checked(reference, message string, code int32) corev1.Pod {
	ended := func(code int32, message string) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message}}
	}
	return corev1.Pod{
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: Container, Image: reference}},
			Containers:     []corev1.Container{{Name: "db-sync", Image: reference}},
		},
		Status: corev1.PodStatus{
			InitContainerStatuses: []corev1.ContainerStatus{{Name: Container, State: ended(0, message)}},
			ContainerStatuses:     []corev1.ContainerStatus{{Name: "db-sync", State: ended(code, "")}},
		},
	}
}

const finding = `{"script": "/opt/harbour-api", "module": "harbour.wsgi:application", "version": "7.1.0"}`

func TestTheImageCheckResultIsRecordedInTheStatus(t *testing.T) {
	const reference = "ghcr.io/c5c3/harbour:2025.1"
	without := checked(reference, finding, 0)
	without.Spec.InitContainers, without.Status.InitContainerStatuses = nil, nil
	nothing := []commonv1.ImageStatus{{Reference: reference}}
	for name, test := range map[string]struct {
		pod  corev1.Pod
		want []commonv1.ImageStatus
	}{
		"found": {checked(reference, finding, 0), []commonv1.ImageStatus{
			{Reference: reference, Script: "/opt/harbour-api", Module: "harbour.wsgi:application", Version: "7.1.0"},
		}},
		"of another image":    {checked("ghcr.io/c5c3/harbour:2025.2", finding, 0), nothing},
		"the task has failed": {checked(reference, finding, 1), nothing},
		"no check":            {without, nothing},
		"no finding":          {checked(reference, "", 0), nothing},
	} {
		p := passOf("2025.1")
		Record(p, []corev1.Pod{test.pod}, "db-sync")
		if diff := cmp.Diff(test.want, p.Status.Images); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestTheStatusKeepsTheLastTwoImageCheckResults(t *testing.T) {
	p := passOf("2025.1")
	for _, tag := range []string{"2025.1", "2025.2", "2026.1", "2026.1"} {
		p.Spec.Image.Tag = tag
		Record(p, []corev1.Pod{checked(p.Spec.Image.Reference(), finding, 0)}, "db-sync")
	}
	if len(p.Status.Images) != 2 || p.Status.ImageOf("2025.2") == nil || p.Status.ImageOf("2026.1") == nil || p.Status.ImageOf("") != nil {
		t.Errorf("got %v", p.Status.Images)
	}
}

func TestTheImageOfTheInstalledReleaseIsNotForgottenDuringAnUpgrade(t *testing.T) {
	p := passOf("2025.1")
	p.Status.InstalledRelease = "2025.1"
	for _, image := range []commonv1.ImageSpec{
		{Tag: "2025.1", Digest: "sha256:aa"}, {Tag: "2025.2", Digest: "sha256:bb"}, {Tag: "2025.2", Digest: "sha256:cc"},
	} {
		image.Repository = p.Spec.Image.Repository
		p.Spec.Image = image
		Record(p, []corev1.Pod{checked(image.Reference(), finding, 0)}, "db-sync")
	}
	for tag, want := range map[string]string{"2025.1": "sha256:aa", "2025.2": "sha256:cc"} {
		if found := p.Status.ImageOf(tag); found == nil || found.Reference != "ghcr.io/c5c3/harbour:"+tag+"@"+want {
			t.Errorf("got %v of %s, want %s", found, tag, want)
		}
	}
}

func TestTheVersionInTheImageIsComparedWithItsTag(t *testing.T) {
	for _, test := range []struct {
		tag, version, reason, message string
	}{
		{"2025.1", "7.1.0", vocabulary.ReasonReleaseMatches, "harbour:2025.1 holds 7.1.0 of Harbour, release 2025.1"},
		{"2025.2-fixed", "8.0.0.dev3", vocabulary.ReasonReleaseMatches, "release 2025.2"},
		{"2025.2", "7.1.0", vocabulary.ReasonReleaseDiffers, "correct the tag or the image"},
		{"2025.2", "99.0", vocabulary.ReasonReleaseUnknown, "99.0 of Harbour, whose release is not known"},
		{"2025.2", "", vocabulary.ReasonReleaseUnknown, "holds an unknown version"},
		{"latest", "7.1.0", vocabulary.ReasonReleaseUnknown, "release 2025.1"},
		{"2025.1@sha256:abab", "7.1.0", vocabulary.ReasonReleaseMatches, "harbour:2025.1@sha256:abab holds 7.1.0"},
		{"2025.2@sha256:abab", "7.1.0", vocabulary.ReasonReleaseDiffers, "correct the tag or the image"},
		{"2025.2", "-", vocabulary.ReasonReleaseUnknown, "until a Job uses the image"},
	} {
		tag, digest, _ := strings.Cut(test.tag, "@")
		p := passOf(tag)
		p.Spec.Image.Digest = digest
		if test.version != "-" {
			Record(p, []corev1.Pod{checked(p.Spec.Image.Reference(), fmt.Sprintf(`{"version": %q}`, test.version), 0)}, "db-sync")
		}
		outcome := Reconcile(t.Context(), p)
		wantDone := test.reason != vocabulary.ReasonReleaseDiffers
		if outcome.Reason() != test.reason || !strings.Contains(outcome.Message(), test.message) || outcome.IsDone() != wantDone {
			t.Errorf("%s with %q: got %s: %s", test.tag, test.version, outcome.Reason(), outcome.Message())
		}
	}
}

func TestTheScriptHasTheConstantsOfTheService(t *testing.T) {
	script := Script(&instance.Definition)
	for _, want := range []string{
		"\nDISTRIBUTION = \"harbour\"\n", "\nSCRIPT = \"/bin/harbour-api\"\n", "\nMODULE = \"harbour.wsgi:application\"\n",
		"\nPROGRAMS = [\"uwsgi\",\"harbour-manage\"]\n", "\nLIBRARIES = [\"pymysql\"]\n",
	} {
		if !strings.Contains(script, want) {
			t.Errorf("the script lacks %q", want)
		}
	}
}

func TestTheMajorVersionIsPassedToTheImageCheck(t *testing.T) {
	p := passOf("2025.1")
	for major, want := range map[int]string{0: "image_check.py", 7: "7"} {
		command := Check(p, major).Command
		if last := command[len(command)-1]; !strings.HasSuffix(last, want) {
			t.Errorf("%d: got %v", major, command)
		}
	}
}
