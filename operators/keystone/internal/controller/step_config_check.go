package controller

import (
	"context"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// configCheckScript reads every option that the image knows. oslo.config
// converts a value only when something asks for it, so that a malformed one
// would otherwise start, look healthy and fail every request that needs it.
const configCheckScript = `import sys
from oslo_config import cfg
import keystone.conf
keystone.conf.configure()
conf = keystone.conf.CONF
conf([], project="keystone", default_config_files=[], default_config_dirs=["` + configDir + `"])
problems = []
def read(section, container, name):
    try:
        return container[name]
    except (cfg.ConfigFileValueError, cfg.TemplateSubstitutionError) as e:
        problems.append("[%s] %s: %s" % (section, name, e))
for name in list(conf):
    value = read("DEFAULT", conf, name)
    if isinstance(value, cfg.ConfigOpts.GroupAttr):
        for option in list(value):
            read(name, value, option)
sys.exit("\n".join(sorted(problems)) if problems else 0)
`

// reconcileConfigCheck lets the image read the configuration before any API
// pod gets to see it. Only what users write themselves can be malformed.
func reconcileConfigCheck(ctx context.Context, s *scope) reconcile.Outcome {
	k := s.keystone
	desired, err := taskJob(k, configCheckTask(s))
	if err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonConfigError, err)
	}
	if len(k.Spec.ExtraConfig) == 0 && len(k.Spec.Plugins) == 0 {
		absent := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: desired.Name, Namespace: desired.Namespace}}
		if err := apply.EnsureAbsent(ctx, s.client, k, absent); err != nil {
			return reconcile.Failed(keystonev1alpha1.ReasonConfigError, err)
		}
		return reconcile.Done(keystonev1alpha1.ReasonSecretsAvailable, "All referenced Secrets are available")
	}
	state, err := s.jobs.Run(ctx, k, desired)
	switch {
	case errors.Is(err, job.ErrJobFailed):
		return writeError(keystonev1alpha1.ReasonConfigError,
			fmt.Errorf("the image cannot read the options of spec.extraConfig or spec.plugins, correct them: %w", err))
	case err != nil:
		return writeError(keystonev1alpha1.ReasonConfigError, err)
	case !state.Complete:
		return reconcile.Waiting(keystonev1alpha1.ReasonConfigCheckInProgress,
			describe(desired.Name, "reading the configuration", state.Waiting))
	}
	return reconcile.Done(keystonev1alpha1.ReasonSecretsAvailable, "All referenced Secrets are available")
}

// configCheckTask depends on the configuration, which its name stands for, and
// on the image that knows the options.
func configCheckTask(s *scope) task {
	return task{
		name: "config-check", container: "config-check", retries: 1,
		command: []string{"python3", "-c", configCheckScript},
		mounts:  []mount{configMount(s.configMap)},
		runKey:  []any{image(s.keystone), s.configMap},
	}
}
