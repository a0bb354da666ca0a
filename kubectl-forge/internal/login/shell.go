package login

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// Shell runs a command, or the user's shell when there is none, in which the
// OpenStack client finds the clouds.yaml. Only the user can read the file, and it is
// removed afterwards; no secret is in a variable or an argument.
func Shell(ctx context.Context, streams genericiooptions.IOStreams, clouds []byte, cloud string, command []string) (err error) {
	folder, err := os.MkdirTemp("", "kubectl-forge-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	file := filepath.Join(folder, keyClouds)
	if err := WriteFile(file, clouds); err != nil {
		return err
	}
	if len(command) == 0 {
		command = []string{cmp.Or(os.Getenv("SHELL"), "/bin/sh")}
	}
	shell := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // The user asks for this very command.
	shell.Stdin, shell.Stdout, shell.Stderr = streams.In, streams.Out, streams.ErrOut
	shell.Env = Environment(os.Environ(), file, cloud)
	return shell.Run()
}

// WriteFile writes a clouds.yaml that no other user may read. An existing file
// is not touched.
func WriteFile(path string, clouds []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // The user names the file.
	if err != nil {
		return err
	}
	_, err = file.Write(clouds)
	return errors.Join(err, file.Close())
}

// Environment returns the environment of a shell that works with the cloud: without
// variables of another login, which would take precedence over the file.
func Environment(present []string, file, cloud string) []string {
	kept := slices.DeleteFunc(slices.Clone(present), func(variable string) bool { return strings.HasPrefix(variable, "OS_") })
	return append(kept, "OS_CLIENT_CONFIG_FILE="+file, "OS_CLOUD="+cloud)
}
