package serviceconfig

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// oslo.config accepts these spellings of true, in any case
// (oslo_config.types.Boolean.TRUE_VALUES).
var trueSpellings = []string{"true", "1", "on", "yes"}

// ReportLogging reports whether log records reach the cluster's log collection. It only
// informs: disabling standard error may be intended.
func ReportLogging(_ context.Context, p *service.Pass) reconcile.Outcome {
	value := service.Config.Value(p.Slots).Options["DEFAULT"]["use_stderr"]
	if slices.Contains(trueSpellings, strings.ToLower(strings.TrimSpace(value))) {
		return reconcile.Done(vocabulary.ReasonStderrEnabled, "Log records are written to standard error")
	}
	message := "spec.extraConfig, spec.extraConfigSecretRef or spec.globalExtraConfig sets [DEFAULT] use_stderr so that log records do not " +
		"reach standard error; remove it to see them in the pod logs"
	return reconcile.Degraded(vocabulary.ReasonStderrDisabled, message).
		OnTransition(corev1.EventTypeWarning, vocabulary.EventLoggingStderrDisabled, message)
}
