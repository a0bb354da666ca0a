package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"github.com/c5c3/forge/kubectl-forge/internal/follow"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
)

// Exit codes of all commands.
const (
	// CodeOK: success; what the user asked about is ready.
	CodeOK = 0
	// CodeError: a failure that no other code covers.
	CodeError = 1
	// CodeUsage: the command line is invalid.
	CodeUsage = 2
	// CodeNotReady: something is not ready, was refused, or a check has failed.
	CodeNotReady = 3
	// CodeTimeout: the result did not arrive in time.
	CodeTimeout = 4
	// CodeMissingRight: the user lacks a permission, which the message names.
	CodeMissingRight = 5
	// CodeInterrupted: the user interrupted the command.
	CodeInterrupted = 130
)

// codedError is an error with an exit code of its own.
type codedError struct {
	error
	code int
}

// Unwrap returns the error itself.
func (e codedError) Unwrap() error { return e.error }

// usageError is an error in the command line.
func usageError(format string, args ...any) error {
	return codedError{fmt.Errorf(format, args...), CodeUsage}
}

// notReady reports that something is not ready, was refused or has failed.
func notReady(err error) error { return codedError{err, CodeNotReady} }

// errSaid stands for a finding that has already been printed.
var errSaid = notReady(errors.New("not ready"))

// codeOf returns the exit code for an error.
func codeOf(err error) int {
	coded, isCoded := errors.AsType[codedError](err)
	command, isCommand := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return CodeOK
	case isCoded:
		return coded.code
	case kube.IsMissingRight(err):
		return CodeMissingRight
	case errors.Is(err, follow.ErrTimeout):
		return CodeTimeout
	case isCommand:
		return command.ExitCode()
	case errors.Is(err, context.Canceled):
		return CodeInterrupted
	}
	return CodeError
}
