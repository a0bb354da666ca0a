package serviceconfig

import (
	"context"

	"github.com/c5c3/forge/internal/common/config"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Files declares the configuration of a service, in passes of type S, that does not read its
// options with oslo.config.
type Files[S service.Scoped] struct {
	// Render returns the files by name.
	Render func(S) (map[string]string, error)
	// Field is the field in which users give options, such as "spec.settings", and Given
	// returns what they have given there, nil for nothing.
	Field string
	Given func(S) any
	// Command reads the files with the image, and fails if it cannot.
	Command []string
	// Mounts returns what Command needs in addition to the files. It may be nil.
	Mounts func(S) []deployment.Mount
}

// Reconcile renders the files into an immutable ConfigMap that is named after its content, so
// that a change rolls out new pods. It does so once everything else is there that pods mount.
// It sets [service.Config], and owns SecretsReady.
func (f Files[S]) Reconcile(ctx context.Context, scope S) reconcile.Outcome {
	p := scope.ServicePass()
	if err := service.RequirePodInputs(ctx, p); err != nil {
		return reconcile.Failed(vocabulary.ReasonWaitingForPodInputs, err)
	}
	files, err := f.Render(scope)
	if err != nil {
		return reconcile.Terminal(vocabulary.ReasonConfigError, err)
	}
	name, err := config.CreateImmutableConfigMap(ctx, p.Client, p.APIReader, p.Scheme, p.Resource,
		p.Named("config"), p.Resource.GetNamespace(), p.Labels(p.Resource.GetName()), files)
	if err != nil {
		return reconcile.WriteFailed(vocabulary.ReasonConfigError, err)
	}
	service.Config.Put(p.Slots, service.Rendered{ConfigMap: name})
	return service.SecretsAvailable()
}

// ReconcileCheck runs a Job in which the image reads the files before any API pod gets them.
// Without options from the user there is nothing that could be malformed, so no Job runs.
func (f Files[S]) ReconcileCheck(ctx context.Context, scope S) reconcile.Outcome {
	p, given := scope.ServicePass(), f.Given(scope)
	if given == nil {
		return withoutCheck(ctx, p)
	}
	mounts := []deployment.Mount{deployment.ConfigMount(p)}
	if f.Mounts != nil {
		mounts = append(mounts, f.Mounts(scope)...)
	}
	desired, err := deployment.TaskJob(p, deployment.Task{
		Name: checkTask, Container: checkTask, Retries: 1, Command: f.Command, Env: p.Environment, Mounts: mounts,
		RunKey: deployment.GivenKey(p, given),
	})
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonConfigError, err)
	}
	return runCheck(ctx, p, desired, f.Field)
}
