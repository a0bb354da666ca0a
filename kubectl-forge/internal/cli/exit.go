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
	// CodeOK: done; what was asked about is ready.
	CodeOK = 0
	// CodeError: something failed that none of the others is about.
	CodeError = 1
	// CodeUsage: the command line is wrong.
	CodeUsage = 2
	// CodeNotReady: something is not ready, was refused, or a check has failed.
	CodeNotReady = 3
	// CodeTimeout: the end has not come in time.
	CodeTimeout = 4
	// CodeMissingRight: the user lacks a right, which the message names.
	CodeMissingRight = 5
	// CodeInterrupted: the user has interrupted the command.
	CodeInterrupted = 130
)

// usageError is about the command line.
type usageError struct{ error }

// Unwrap returns the error itself.
func (e usageError) Unwrap() error { return e.error }

// notReadyError is about something that is not as it should be. Without an error
// in it everything has been said.
type notReadyError struct{ error }

// Unwrap returns the error itself.
func (e notReadyError) Unwrap() error { return e.error }

// errSaid stands for a finding that is on the screen already.
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
