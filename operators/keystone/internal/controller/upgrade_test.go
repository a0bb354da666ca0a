package controller

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/testutil/golden"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func TestAReleaseIsRefusedFollowedOrTakenBack(t *testing.T) {
	const expanding, contracting = keystonev1alpha1.UpgradePhaseExpanding, keystonev1alpha1.UpgradePhaseContracting
	tests := map[string]struct {
		installed, target string
		phase             keystonev1alpha1.UpgradePhase
		contracted        string
		tag               string
		want              schemaPlan
		reason, says      string
	}{
		"a first installation takes any tag":    {tag: "latest", want: schemaSync},
		"the same tag is kept up to date":       {installed: "2025.1", tag: "2025.1", want: schemaSync},
		"a tag that is no release stays":        {installed: "latest", tag: "latest", want: schemaSync},
		"a rebuild is a patch":                  {installed: "2025.1", tag: "2025.1-fixed", want: schemaSync},
		"the next release is an upgrade":        {installed: "2025.2", tag: "2026.1", want: schemaUpgrade},
		"an upgrade goes on":                    {installed: "2025.1", target: "2025.2", phase: expanding, tag: "2025.2", want: schemaUpgrade},
		"an upgrade is taken back":              {installed: "2025.1", target: "2025.2", phase: expanding, tag: "2025.1", want: schemaAbort},
		"a contraction goes on":                 {installed: "2025.1", target: "2025.2", phase: contracting, tag: "2025.2", want: schemaUpgrade},
		"a phase without a target counts less":  {installed: "2025.1", phase: expanding, tag: "2025.2", want: schemaUpgrade},
		"a finished upgrade is kept up to date": {installed: "2025.2", contracted: "2025.2", tag: "2025.2", want: schemaSync},
		"a patch after an upgrade":              {installed: "2025.2", contracted: "2025.2", tag: "2025.2-fixed", want: schemaSync},
		"a downgrade": {
			installed: "2025.2", tag: "2025.1", reason: keystonev1alpha1.ReasonDowngradeNotSupported, says: "set image.tag to 2025.2 or later",
		},
		"a skipped release": {
			installed: "2025.1", tag: "2026.1", reason: keystonev1alpha1.ReasonUpgradePathInvalid, says: "go to 2025.2 first",
		},
		"a tag that is no release": {
			installed: "2025.1", tag: "edge", reason: keystonev1alpha1.ReasonVersionParseError, says: `"edge"`,
		},
		"an installed tag that is no release": {
			installed: "edge", tag: "2025.1", reason: keystonev1alpha1.ReasonVersionParseError, says: "set image.tag back to edge",
		},
		"a third tag": {
			installed: "2025.1", target: "2025.2", phase: expanding, tag: "2025.2-fixed",
			reason: keystonev1alpha1.ReasonUpgradeTargetChanged, says: "set image.tag to 2025.2 to finish it, or to 2025.1 to abort it",
		},
		"a third tag when nothing can be taken back": {
			installed: "2025.1", target: "2025.2", phase: contracting, tag: "2026.1",
			reason: keystonev1alpha1.ReasonUpgradeTargetChanged, says: "set image.tag to 2025.2 to finish it",
		},
		"taking back a contraction": {
			installed: "2025.1", target: "2025.2", phase: contracting, tag: "2025.1",
			reason: keystonev1alpha1.ReasonUpgradeAbortRefused, says: "set image.tag to 2025.2",
		},
		"taking back a contraction that the status has not recorded": {
			installed: "2025.1", target: "2025.2", phase: expanding, contracted: "2025.2", tag: "2025.1",
			reason: keystonev1alpha1.ReasonUpgradeAbortRefused, says: "set image.tag to 2025.2",
		},
		"taking back a contraction whose phase was lost": {
			installed: "2025.1", contracted: "2025.2", tag: "2025.1",
			reason: keystonev1alpha1.ReasonUpgradeAbortRefused, says: "set image.tag to 2025.2",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			k := minimal()
			k.Spec.Image.Tag = test.tag
			k.Status.InstalledRelease, k.Status.TargetRelease, k.Status.UpgradePhase = test.installed, test.target, test.phase
			plan, outcome := planSchema(k, test.contracted)
			if plan != test.want || outcome.Reason() != test.reason || !strings.Contains(outcome.Message(), test.says) {
				t.Errorf("got plan %d, %s: %s; want plan %d, %s with %q",
					plan, outcome.Reason(), outcome.Message(), test.want, test.reason, test.says)
			}
		})
	}
}

func TestCronJobsKeepTheImageWhoseSchemaIsInstalled(t *testing.T) {
	for name, test := range map[string]struct {
		status keystonev1alpha1.KeystoneStatus
		want   string
	}{
		"before the first installation": {want: "2025.2"},
		"before a patch is synced":      {status: keystonev1alpha1.KeystoneStatus{ServiceStatus: commonv1.ServiceStatus{InstalledRelease: "2025.2-old"}}, want: "2025.2-old"},
		"while the schema is expanded": {
			status: keystonev1alpha1.KeystoneStatus{ServiceStatus: commonv1.ServiceStatus{
				InstalledRelease: "2025.1", TargetRelease: "2025.2", UpgradePhase: keystonev1alpha1.UpgradePhaseExpanding,
			}}, want: "2025.1",
		},
		"while the pods are replaced": {
			status: keystonev1alpha1.KeystoneStatus{ServiceStatus: commonv1.ServiceStatus{
				InstalledRelease: "2025.1", TargetRelease: "2025.2", UpgradePhase: keystonev1alpha1.UpgradePhaseRollingUpdate,
			}}, want: "2025.1",
		},
		"from the contraction on": {
			status: keystonev1alpha1.KeystoneStatus{ServiceStatus: commonv1.ServiceStatus{
				InstalledRelease: "2025.1", TargetRelease: "2025.2", UpgradePhase: keystonev1alpha1.UpgradePhaseContracting,
			}}, want: "2025.2",
		},
		"once it is installed": {status: keystonev1alpha1.KeystoneStatus{ServiceStatus: commonv1.ServiceStatus{InstalledRelease: "2025.2"}}, want: "2025.2"},
	} {
		t.Run(name, func(t *testing.T) {
			k := minimal()
			k.Status = test.status
			if got, want := scheduledImage(k), "ghcr.io/c5c3/keystone:"+test.want; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestUpgradeJobsMatchTheirGoldenFiles(t *testing.T) {
	for name, k := range map[string]*keystonev1alpha1.Keystone{"minimal": minimal(), "managed": managed()} {
		k.Status.InstalledRelease = "2025.1"
		s := scopeOf(k)
		for kind, described := range map[string]deployment.Task{
			"job-db-expand": dbExpand(s), "job-db-migrate": dbMigrate(s), "job-db-contract": dbContract(s),
			"job-login-check": loginCheck(s),
		} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				golden.CompareYAML(t, name+"/"+kind+".yaml", jobOf(t, s, described))
			})
		}
	}
}

// The check judges the login by what keystone-manage says and returns.
func TestTheLoginCheckTellsAnUnknownRevisionFromAFailedLogin(t *testing.T) {
	for name, test := range map[string]struct {
		tool string
		ok   bool
	}{
		"up to date":            {"exit 0", true},
		"no schema at all":      {"exit 2", false},
		"contract needed":       {"exit 4", true},
		"a later revision":      {`echo "Can't locate revision identified by 'b4f8'" >&2; exit 1`, true},
		"a refused login":       {`echo "(1045, Access denied)" >&2; exit 1`, false},
		"a tool that is killed": {"kill -9 $$", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			//nolint:gosec // The stand-in has to be executable.
			if err := os.WriteFile(filepath.Join(dir, "keystone-manage"), []byte("#!/bin/sh\n"+test.tool+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			command := loginCheck(scopeOf(minimal())).Command
			run := exec.CommandContext(t.Context(), command[0], command[1:]...) //nolint:gosec // It is the operator's own command.
			run.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
			output, err := run.CombinedOutput()
			if (err == nil) != test.ok {
				t.Errorf("got %v, want success %t; it said: %s", err, test.ok, output)
			}
		})
	}
}

func TestATagIsReadFromAnImageReference(t *testing.T) {
	for reference, want := range map[string]string{
		"ghcr.io/c5c3/keystone:2025.2": "2025.2", "registry:5000/keystone": "", "registry:5000/keystone:2025.1": "2025.1", "keystone": "", "": "",
	} {
		if got := deployment.TagOf(reference); got != want {
			t.Errorf("%q: got %q, want %q", reference, got, want)
		}
	}
}

func TestNoSyncRunsBesideAContractionThatTheStatusHasLost(t *testing.T) {
	s, _ := countingScope(t, interceptor.Funcs{})
	contraction, err := deployment.TaskJob(s.Pass, dbContract(s))
	if err != nil {
		t.Fatal(err)
	}
	// It has lost its owner reference, too.
	if err := s.Client.Create(t.Context(), contraction); err != nil {
		t.Fatal(err)
	}
	got := s.syncSchema(t.Context())
	if got.IsDone() || got.Reason() != keystonev1alpha1.ReasonDBSyncInProgress || !strings.Contains(got.Message(), contraction.Name) {
		t.Errorf("got %s: %s, want it to wait for Job %s", got.Reason(), got.Message(), contraction.Name)
	}
}
