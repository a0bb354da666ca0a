package shell_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/c5c3/forge/workshop/secretstore/internal/shell"
)

// TestMain lets the test's binary be the programs.
func TestMain(m *testing.M) {
	switch os.Getenv("PROGRAM") {
	case "env":
		os.Exit(shell.Env(os.Args[1:]))
	case "sh":
		os.Exit(shell.Run(os.Args[1:]))
	}
	os.Exit(m.Run())
}

func run(t *testing.T, program, in string, args ...string) (out string, code int) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0], args...)
	command.Env = append(os.Environ(), "PROGRAM="+program)
	command.Stdin = strings.NewReader(in)
	output, _ := command.CombinedOutput()
	return string(output), command.ProcessState.ExitCode()
}

func TestAProgramInheritsTheRemainingStandardInput(t *testing.T) {
	script := `IFS= read -r SECRET && export SECRET && exec "$@"`
	out, code := run(t, "sh", "the token\nthe rest\n", "-c", script, "sh", "/bin/sh", "-c", `echo "$SECRET"; cat`)
	if out != "the token\nthe rest\n" || code != 0 {
		t.Errorf("got %q and %d", out, code)
	}
}

func TestTheExitCodeOfTheProgramIsReturned(t *testing.T) {
	if _, code := run(t, "sh", "", "-c", `exec "$@"`, "sh", "/bin/sh", "-c", "exit 2"); code != 2 {
		t.Errorf("got %d", code)
	}
	if out, code := run(t, "sh", "", "script.sh"); code != 127 || !strings.Contains(out, "sh -c") {
		t.Errorf("a file: %q and %d", out, code)
	}
}

func TestAScriptIsReadFromStandardInputAfterTheToken(t *testing.T) {
	out, code := run(t, "sh", "the token\nset -eu\n/bin/sh -c 'cat; echo \"$SECRET\"' <<'END'\ninput\nEND\nfalse\necho no\n",
		"-c", `IFS= read -r SECRET && export SECRET && PROGRAM=sh exec "`+os.Args[0]+`" -s`)
	if out != "input\nthe token\n" || code != 1 {
		t.Errorf("got %q and %d", out, code)
	}
}

func TestEnvRunsAProgramWithTheGivenVariables(t *testing.T) {
	out, code := run(t, "env", "", "A=b=c", "PROGRAM=", "/bin/sh", "-c", `echo "$A"`)
	if out != "b=c\n" || code != 0 {
		t.Errorf("got %q and %d", out, code)
	}
	if _, code := run(t, "env", "", "/no/such/program"); code != 127 {
		t.Errorf("got %d", code)
	}
}
