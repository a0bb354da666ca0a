package cli

import (
	"context"
	"errors"
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

// usageError is an error in the command line.
type usageError struct{ error }

// Unwrap returns the error itself.
func (e usageError) Unwrap() error { return e.error }

// notReadyError reports that something is not ready or has failed. If it wraps no error,
// the output has already said everything.
type notReadyError struct{ error }

// Unwrap returns the error itself.
func (e notReadyError) Unwrap() error { return e.error }

// errSaid stands for a finding that has already been printed.
var errSaid = notReadyError{errors.New("not ready")}

// codeOf returns the exit code for an error.
func codeOf(err error) int {
	var (
		usage    usageError
		notReady notReadyError
		missing  *kube.MissingRightError
		command  *exec.ExitError
	)
	switch {
	case err == nil:
		return CodeOK
	case errors.As(err, &usage):
		return CodeUsage
	case errors.As(err, &missing):
		return CodeMissingRight
	case errors.Is(err, follow.ErrTimeout):
		return CodeTimeout
	case errors.As(err, &notReady):
		return CodeNotReady
	case errors.As(err, &command):
		return command.ExitCode()
	case errors.Is(err, context.Canceled):
		return CodeInterrupted
	}
	return CodeError
}

// followError classifies the failure of an operation that was followed as not ready,
// rather than as a failure of the command.
func followError(err error) error {
	var missing *kube.MissingRightError
	if errors.Is(err, follow.ErrTimeout) || errors.Is(err, context.Canceled) || errors.As(err, &missing) {
		return err
	}
	return notReadyError{err}
}
