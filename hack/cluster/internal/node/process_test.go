package node

import (
	"errors"
	"os"
	"os/exec"
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
