package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/kubectl-forge/internal/follow"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
	"github.com/c5c3/forge/kubectl-forge/internal/tempest"
	"github.com/c5c3/forge/kubectl-forge/internal/verify"
)

const (
	tempestTimeout = 2 * time.Hour
	// tempestLines is how many lines of the log are read. A test has one.
	tempestLines = 10000
	// tempestStep is how many tests a line of progress covers where lines stay.
	tempestStep = 25
)

// requireTempest checks the permissions from the start, so that a run does not end before its last check.
func requireTempest(ctx context.Context, session *kube.Session, ref inventory.Ref) error {
	for _, right := range []string{"create jobs.batch", "get jobs.batch", "list pods", "get pods/log"} {
		if err := kube.Require(ctx, session, ref.Namespace, right); err != nil {
			return err
		}
	}
	return nil
}

// tempest runs the tests in a Job and returns what they came to. The Job outlasts the command.
func (a *app) tempest(ctx context.Context, session *kube.Session, ref inventory.Ref, o verifyOptions, progress io.Writer) (string, error) {
	k, err := kube.Keystone(ctx, session, kube.KeystoneOf(ref))
	if err != nil {
		return "", err
	}
	started, err := tempest.Job(k, o.image)
	if err != nil {
		return "", err
	}
	if err := session.Create(ctx, started); err != nil {
		return "", fmt.Errorf("starting the tests: %w", err)
	}
	options := a.progress(*o.timeout)
	options.Out = progress
	var last tempest.Facts
	err = follow.Until(ctx, options, func(ctx context.Context) (view follow.View, err error) {
		if last, err = tempestFacts(ctx, session, started); err != nil {
			return follow.View{}, err
		}
		if !options.Live {
			last.Coarse = tempestStep
		}
		return tempest.View(last), nil
	})
	continues := fmt.Sprintf("the tests continue: \"kubectl -n %s logs -f job/%s\" follows them, and deleting that Job ends them, "+
		"which leaves their projects and users behind", started.Namespace, started.Name)
	switch {
	case errors.Is(err, follow.ErrTimeout):
		return "", verify.UndecidedError{Err: fmt.Errorf("%w; %s", err, continues)}
	case ctx.Err() != nil:
		fmt.Fprintln(a.ErrOut, continues)
		return "", err
	case err != nil:
		return "", err
	}
	if summary, found := tempest.SummaryOf(last.Pods); found {
		return summary.String(), nil
	}
	return "Job " + started.Name + " has succeeded", nil
}

// tempestFacts reads the Job, its pods and its log. A log that cannot be read yet is empty.
func tempestFacts(ctx context.Context, session *kube.Session, started *batchv1.Job) (tempest.Facts, error) {
	facts := tempest.Facts{Job: started}
	if err := session.Get(ctx, client.ObjectKeyFromObject(started), started); err != nil {
		return facts, err
	}
	var err error
	if facts.Pods, err = kube.PodsOf(ctx, session, started); err != nil {
		return facts, err
	}
	for i := range facts.Pods {
		log, err := session.Logs.Read(ctx, kube.LogRequest{
			Namespace: started.Namespace, Pod: facts.Pods[i].Name, Container: tempest.Container, Lines: tempestLines,
		})
		if err == nil {
			facts.Log += log
		}
	}
	return facts, nil
}
