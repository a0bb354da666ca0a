package upgrade

import (
	"strings"
	"testing"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/kubectl-forge/internal/check"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

var oldDigest, newDigest = "sha256:" + strings.Repeat("0a", 32), "sha256:" + strings.Repeat("1b", 32)

// pinned is a Keystone of its own whose image has a digest.
func pinned() Facts {
	f := ready()
	keystone(f).Spec.Image.Digest = oldDigest
	return f
}

// pinnedPlane is a ControlPlane whose Keystone and Placement have images of the user, and
// that of Keystone a digest.
func pinnedPlane() Facts {
	f := both()
	f.ControlPlane.Spec.Services.Keystone.Image = &commonv1.ImageSpec{Repository: "example.com/keystone", Tag: "2025.2", Digest: oldDigest}
	f.ControlPlane.Spec.Services.Placement = &c5c3v1alpha1.ServicePlacementSpec{}
	f.ControlPlane.Spec.Services.Placement.Image = &commonv1.ImageSpec{Repository: "example.com/placement", Tag: "2025.2"}
	return f
}

func TestADigestIsReplacedWithTheTagItBelongsTo(t *testing.T) {
	for name, c := range map[string]struct {
		facts Facts
		given []string
		// patch is the patch, "" if the upgrade is refused with the error.
		patch, err string
	}{
		"of a service": {
			pinned(), []string{newDigest}, `{"spec":{"image":{"digest":"` + newDigest + `","tag":"2026.1"}}}`, "",
		},
		"removed": {pinned(), []string{NoDigest}, `{"spec":{"image":{"digest":null,"tag":"2026.1"}}}`, ""},
		"of an image that has none so far": {
			ready(), []string{newDigest}, `{"spec":{"image":{"digest":"` + newDigest + `","tag":"2026.1"}}}`, "",
		},
		"none where none is set": {ready(), nil, `{"spec":{"image":{"tag":"2026.1"}}}`, ""},
		"not given": {
			pinned(), nil, "", "spec.image.digest is that of 2025.2: give that of 2026.1 with --digest sha256:..., or remove it with --digest none",
		},
		"of the only service with one": {
			pinnedPlane(), []string{newDigest}, `{"spec":{"openStackRelease":"2026.1","services":{` +
				`"keystone":{"image":{"digest":"` + newDigest + `","tag":"2026.1"}},"placement":{"image":{"tag":"2026.1"}}}}}`, "",
		},
		"not given for a ControlPlane": {
			pinnedPlane(),
			[]string{"placement=" + newDigest},
			"",
			"spec.services.keystone.image.digest is that of 2025.2: give that of 2026.1 with --digest keystone=sha256:...",
		},
		"of no service in particular": {func() Facts {
			f := pinnedPlane()
			f.ControlPlane.Spec.Services.Keystone.Image.Digest = ""
			return f
		}(), []string{newDigest}, "", "say of which service"},
		"of another service": {pinned(), []string{"nova=" + newDigest}, "", "--digest is for nova"},
	} {
		digests, err := ParseDigests(c.given)
		if err != nil {
			t.Fatal(err)
		}
		c.facts.Digests = digests
		change, err := Upgrade(c.facts, "2026.1")
		if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: got %v, want %q", name, err, c.err)
		}
		if check.AnyFailed(Preflight(c.facts, "2026.1")) != (c.err != "") {
			t.Errorf("%s: got the findings %v", name, Preflight(c.facts, "2026.1"))
		}
		if c.patch == "" {
			continue
		}
		if patch, err := Patch(c.facts, change); string(patch) != c.patch || err != nil {
			t.Errorf("%s: got %s and %v, want %s", name, patch, err, c.patch)
		}
	}
}

func TestAnAbortSetsTheDigestOfTheInstalledReleaseAgain(t *testing.T) {
	for _, installed := range []string{"@" + oldDigest, ""} {
		f := pinned()
		k := keystone(f)
		k.Spec.Image.Tag, k.Spec.Image.Digest = "2026.1", newDigest
		k.Status.TargetRelease, k.Status.UpgradePhase = "2026.1", commonv1.UpgradePhaseExpanding
		k.Status.Images = []commonv1.ImageStatus{
			{Reference: k.Spec.Image.Repository + ":2025.2" + installed}, {Reference: k.Spec.Image.Reference()},
		}
		want := `{"spec":{"image":{"digest":null,"tag":"2025.2"}}}`
		if installed != "" {
			want = `{"spec":{"image":{"digest":"` + oldDigest + `","tag":"2025.2"}}}`
		}
		change, err := Abort(f)
		if err != nil {
			t.Fatal(err)
		}
		if patch, err := Patch(f, change); string(patch) != want || err != nil {
			t.Errorf("got %s and %v, want %s", patch, err, want)
		}
	}
}

func TestWhatIsNoDigestIsRefused(t *testing.T) {
	for _, given := range [][]string{{"2026.1"}, {"sha256:abc"}, {"keystone="}, {newDigest, oldDigest}, {"a=" + newDigest, "a=none"}} {
		if _, err := ParseDigests(given); err == nil {
			t.Errorf("%v is accepted", given)
		}
	}
}
