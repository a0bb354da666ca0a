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
		for _, task := range []string{"db-expand", "db-migrate", "db-contract", "login-check", "reach-check"} {
			t.Run(name+"/"+task, func(t *testing.T) {
				golden.CompareYAML(t, name+"/job-"+task+".yaml", jobOf(t, s, databaseTask(s, task)))
			})
		}
	}
}

// Both checks judge the output and exit code of keystone-manage.
func TestSchemaChecksDistinguishAFailedLoginFromAnyRevision(t *testing.T) {
	const later = `echo "Can't locate revision identified by 'b4f8'" >&2; exit 1`
	const refused = `echo "(1045, Access denied)" >&2; exit 1`
	for name, test := range map[string]struct {
		command []string
		tool    string
		ok      bool
	}{
		"login, up to date":                  {keystoneSchema.Login, "exit 0", true},
		"login, no schema at all":            {keystoneSchema.Login, "exit 2", false},
		"login, contract needed":             {keystoneSchema.Login, "exit 4", true},
		"login, a later revision":            {keystoneSchema.Login, later, true},
		"login, refused":                     {keystoneSchema.Login, refused, false},
		"login, a tool that is killed":       {keystoneSchema.Login, "kill -9 $$", false},
		"before an offline upgrade":          {keystoneSchema.Reach, "echo 29e87d24a316", true},
		"before one, no schema at all":       {keystoneSchema.Reach, "echo None", false},
		"before one, a later revision":       {keystoneSchema.Reach, later, false},
		"before one, a refused login":        {keystoneSchema.Reach, refused, false},
		"before one, a tool that is missing": {keystoneSchema.Reach, "exit 127", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			//nolint:gosec // The stand-in has to be executable.
			if err := os.WriteFile(filepath.Join(dir, "keystone-manage"), []byte("#!/bin/sh\n"+test.tool+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			run := exec.CommandContext(t.Context(), test.command[0], test.command[1:]...) //nolint:gosec // It is the operator's own command.
			run.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
			output, err := run.CombinedOutput()
			if (err == nil) != test.ok {
				t.Errorf("got %v, want success %t; it said: %s", err, test.ok, output)
			}
		})
	}
}
