package controller

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/golden"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

func TestUpgradeJobsMatchTheirGoldenFiles(t *testing.T) {
	for name, k := range map[string]*keystonev1alpha1.Keystone{"minimal": fixture.Minimal(), "managed": fixture.Managed()} {
		k.Status.InstalledRelease = "2025.1"
		s := fixture.Scope(k)
		for _, task := range []string{"db-expand", "db-migrate", "db-contract", "login-check"} {
			t.Run(name+"/"+task, func(t *testing.T) {
				golden.CompareYAML(t, name+"/job-"+task+".yaml", jobOf(t, s, databaseTask(s, task)))
			})
		}
	}
}

// The check judges the login by the output and exit code of keystone-manage.
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
			command := keystoneSchema.Login
			run := exec.CommandContext(t.Context(), command[0], command[1:]...) //nolint:gosec // It is the operator's own command.
			run.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
			output, err := run.CombinedOutput()
			if (err == nil) != test.ok {
				t.Errorf("got %v, want success %t; it said: %s", err, test.ok, output)
			}
		})
	}
}
