// Package shell provides the programs that scripts expect in OpenBao's image
// in addition to "bao": env and sh.
package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// notRun is the exit code for a program that cannot be started.
const notRun = 127

// Env runs the program that the arguments name with variables set, as in
// NAME=VALUE... PROGRAM ARGUMENT..., and returns only if it cannot.
func Env(args []string) int {
	for len(args) > 0 {
		name, value, ok := strings.Cut(args[0], "=")
		if !ok || name == "" {
			break
		}
		if err := os.Setenv(name, value); err != nil {
			return complain("env", err)
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return complain("env", errors.New("no program is named"))
	}
	program, err := exec.LookPath(args[0])
	if err == nil {
		err = syscall.Exec(program, args, os.Environ())
	}
	return complain("env", err)
}

// Run runs the script in "-c SCRIPT [NAME [ARGUMENT...]]", or the one on standard
// input for "-s", and returns its exit code.
func Run(args []string) int {
	var source io.Reader
	switch {
	case len(args) == 1 && args[0] == "-s":
		source = os.Stdin
	case len(args) >= 2 && args[0] == "-c":
		source = strings.NewReader(args[1])
	default:
		return complain("sh", errors.New("only sh -c SCRIPT [NAME [ARGUMENT...]] and sh -s are supported"))
	}
	// The interpreter supports "export" only in this dialect.
	script, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(source, "sh")
	if err != nil {
		return complain("sh", err)
	}
	// The rest belongs to the program that reads next, so it must not be buffered.
	options := []interp.RunnerOption{interp.StdIO(os.Stdin, os.Stdout, os.Stderr)}
	if len(args) > 3 {
		options = append(options, interp.Params(append([]string{"--"}, args[3:]...)...))
	}
	runner, err := interp.New(options...)
	if err != nil {
		return complain("sh", err)
	}
	err = runner.Run(context.Background(), script)
	if status, ok := errors.AsType[interp.ExitStatus](err); ok {
		return int(status)
	}
	if err != nil {
		return complain("sh", err)
	}
	return 0
}

func complain(program string, err error) int {
	fmt.Fprintf(os.Stderr, "%s: %v\n", program, err)
	return notRun
}
