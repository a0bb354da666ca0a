package node

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestStartTicksAreFoundBehindAnyProcessName(t *testing.T) {
	const rest = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 98765 20"
	for _, name := range []string{"(plain)", "(with space)", "(a) R 1 (b)"} {
		ticks, err := parseStartTicks("42 " + name + rest)
		if err != nil || ticks != 98765 {
			t.Errorf("name %s: parseStartTicks() = %d, %v, want 98765", name, ticks, err)
		}
	}
}

func TestAZombieCountsAsGone(t *testing.T) {
	_, err := parseStartTicks("42 (x) Z 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 98765 20")
	if !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("parseStartTicks() = %v, want %v", err, os.ErrProcessDone)
	}
}

func TestATruncatedStatIsRefused(t *testing.T) {
	if _, err := parseStartTicks("42 (x) S 1 2"); err == nil {
		t.Error("parseStartTicks() accepted five fields")
	}
}

func TestAProcessWithTheSameIDButAnotherStartIsAnother(t *testing.T) {
	self, err := ProcessOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if !self.Alive() {
		t.Error("the running test is not alive")
	}
	earlier, otherBoot := self, self
	earlier.Start--
	otherBoot.BootID = "another"
	if earlier.Alive() || otherBoot.Alive() {
		t.Error("a process that started earlier or in another boot is taken for this one")
	}
}

func TestKillWaitsUntilTheProcessHasGone(t *testing.T) {
	cmd := exec.Command("/bin/sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	process, err := ProcessOf(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	if process.Alive() {
		t.Error("it is still alive after Kill")
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it ended without a signal")
	}
	if err := process.Kill(); err != nil {
		t.Errorf("Kill of an ended process = %v, want nil", err)
	}
}

func TestOnlyItsUserHasNodes(t *testing.T) {
	self := os.Geteuid()
	ids := func(uid int) string { return fmt.Sprintf("Uid:\t%d\t%d\t%d\t%d\n", uid, uid, uid, uid) }
	for name, tc := range map[string]struct {
		user   int
		status string
		mode   os.FileMode
		want   bool
	}{
		"the user's process and file":         {self, ids(self), 0o644, true},
		"another user's process":              {self, ids(self + 1), 0o644, false},
		"a process with several ids":          {self, fmt.Sprintf("Uid:\t%d\t%d\t%d\t%d\n", self+1, self, self, self), 0o644, false},
		"a process of which nothing is known": {self, "", 0o644, false},
		"another user's file":                 {self + 1, ids(self + 1), 0o644, false},
		"a file that another user may write":  {self, ids(self), 0o666, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			process, spec := filepath.Join(dir, "1"), filepath.Join(dir, "spec.json")
			for _, err := range []error{
				os.Mkdir(process, 0o755),
				os.WriteFile(filepath.Join(process, "cmdline"), []byte("cluster\x00"+InitCommand+"\x00"+spec+"\x00"), 0o644),
				os.WriteFile(filepath.Join(process, "status"), []byte("Name:\tcluster\n"+tc.status), 0o644),
				os.WriteFile(spec, []byte(`{"checkout": "/src"}`), 0o600), os.Chmod(spec, tc.mode),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			running, err := runningAs(tc.user, dir)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(running) == 1; got != tc.want {
				t.Errorf("it counts as a node: %t, want %t", got, tc.want)
			}
		})
	}
}
