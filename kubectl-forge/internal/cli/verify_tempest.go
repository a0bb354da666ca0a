package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
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

// tempestRun is a run of OpenStack's tests.
type tempestRun struct {
	image   string
	timeout time.Duration
	out     io.Writer
}

// tempestCheck returns the check that runs the tests. The user needs the permissions for it from the
// start, so that a run does not end before its last check.
func (a *app) tempestCheck(ctx context.Context, session *kube.Session, ref inventory.Ref, run tempestRun) (verify.Check, error) {
	err := kube.Require(ctx, session.Client,
		kube.Right{Verb: "create", Resource: "jobs", Group: batchv1.GroupName, Namespace: ref.Namespace},
		kube.Right{Verb: "get", Resource: "jobs", Group: batchv1.GroupName, Namespace: ref.Namespace},
		kube.Right{Verb: "list", Resource: "pods", Namespace: ref.Namespace},
		kube.Right{Verb: "get", Resource: "pods", Subresource: "log", Namespace: ref.Namespace})
	return verify.Check{Name: "Tempest", Run: func(ctx context.Context) (string, error) {
		return a.tempest(ctx, session, ref, run)
	}}, err
}

// tempest runs the tests in a Job and returns what they came to. The Job outlasts the command.
func (a *app) tempest(ctx context.Context, session *kube.Session, ref inventory.Ref, run tempestRun) (string, error) {
	k, err := kube.Keystone(ctx, session, ref.Namespace, keystoneOf(ref).Name)
	if err != nil {
		return "", err
	}
	started := tempest.Job(k, run.image)
	if err := session.Create(ctx, started); err != nil {
		return "", fmt.Errorf("starting the tests: %w", kube.Explain(err))
	}
	options := a.progress(run.timeout)
	options.Out = run.out
	var last tempest.Facts
	err = follow.Until(ctx, options, func(ctx context.Context) (follow.View, error) {
		facts, err := tempestFacts(ctx, session, started)
		if err != nil {
			return follow.View{}, err
		}
		if !options.Live {
			facts.Coarse = tempestStep
		}
		last = facts
		return tempest.View(facts), nil
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
		return facts, kube.Explain(err)
	}
	var pods corev1.PodList
	err := session.List(ctx, &pods, client.InNamespace(started.Namespace), client.MatchingLabels{batchv1.JobNameLabel: started.Name})
	if err != nil {
		return facts, kube.Explain(err)
	}
	facts.Pods = pods.Items
	for i := range pods.Items {
		request := kube.LogRequest{
			Namespace: started.Namespace, Pod: pods.Items[i].Name, Container: tempest.Container, Lines: tempestLines,
		}
		if log, err := session.Logs.Read(ctx, request); err == nil {
			facts.Log += log
		}
	}
	return facts, nil
}
