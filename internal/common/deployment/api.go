package deployment

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/image"
	"github.com/c5c3/forge/internal/common/poddiag"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// API declares the pods that serve the API of a service, in passes of type S. Every function
// except Endpoint may be nil.
type API[S service.Scoped] struct {
	// Arguments are the application's own command-line arguments.
	Arguments string
	// Wrapper returns the path of the Python file that makes the application of an
	// instance that wraps it, "" otherwise.
	Wrapper func(S) string
	// HealthPath is a path that the API answers without a token, such as "/v3".
	HealthPath string
	// HealthHost is the host name in the requests of the startup probe and of [ReadyFile], for
	// an application that refuses others. With "" it is the address of the pod.
	HealthHost string
	// Table is a table that every release has in its database, and Tables are all of which
	// requests need one: a pod that misses one is not ready. They are empty for a service
	// without a database.
	Table  string
	Tables []string
	// Endpoint returns the API URL of an instance, as shown in status.endpoint.
	Endpoint func(S) string
	// Mounts returns what the pods mount in addition to the configuration.
	Mounts func(S) []Mount
	// Options returns Secrets with options that are files next to the configuration.
	Options func(S) []corev1.VolumeProjection
	// Annotations returns annotations of the pods, which are replaced when one changes.
	Annotations func(S) map[string]string
	// Proxy returns what serves the API's port in place of uWSGI, nil for nothing.
	Proxy func(S) *Proxy

	// Backing is what the pods have of their database, if there is one, and their
	// configuration. Package kit sets it.
	Backing Backing
}

// Backing is what API pods have of what they stand on. Every function may be nil.
type Backing struct {
	// Variable is the environment variable with the URL of the database, "" without one.
	Variable string
	// Address returns the address of the database that readiness logs in to.
	Address func(p *service.Pass) string
	// Env, Mounts and Annotations return what the pods have for it.
	Env         func(p *service.Pass) []corev1.EnvVar
	Mounts      func(p *service.Pass) []Mount
	Annotations func(p *service.Pass) map[string]string
	// Prune removes objects that no pod needs after a rollout.
	Prune func(ctx context.Context, p *service.Pass) error
	// Complete does what a rollout is followed by. It returns a description of it for the
	// event DeploymentRolloutComplete, "" for none.
	Complete func(ctx context.Context, p *service.Pass) (news string, err error)
}

// Reconcile ensures the API pods with their Service and PodDisruptionBudget. It is the
// step that owns DeploymentReady.
func (a API[S]) Reconcile(ctx context.Context, s S) reconcile.Outcome {
	p := s.ServicePass()
	svc := InstanceOf(p).Service()
	svc.Annotations = p.Spec.ServiceAnnotations
	if err := apply.EnsureObject(ctx, p.Client, p.Scheme, p.Resource, svc, apply.FieldManager); err != nil {
		return reconcile.WriteFailed(vocabulary.ReasonWaitingForDeployment, err)
	}
	deploy := a.Deployment(s, svc.Spec.IPFamilies...)
	switch turn, err := takeTurn(ctx, p, deploy); {
	case err != nil:
		return reconcile.Failed(vocabulary.ReasonWaitingForDeployment, err)
	case !turn:
		return reconcile.Done(vocabulary.ReasonDeploymentReady,
			"All API pods are available; this version of the operator updates them after those of other resources").After(turnInterval)
	}
	ready, err := ensurePods(ctx, p, deploy)
	switch {
	case err != nil:
		return reconcile.WriteFailed(vocabulary.ReasonWaitingForDeployment, err)
	case p.Status.UpgradePhase.IsOffline():
		return reportStopped(p)
	}
	if p.Status.Endpoint != "" || ready {
		p.Status.Endpoint = a.Endpoint(s)
	}
	if !ready {
		return reconcile.Failed(vocabulary.ReasonWaitingForDeployment, SinceWhenDown(p, a.explainRollout(ctx, p, deploy)))
	}
	p.Status.DownSince = nil
	return a.rolledOut(ctx, p)
}

// rolledOut does what the end of a rollout is followed by.
func (a API[S]) rolledOut(ctx context.Context, p *service.Pass) reconcile.Outcome {
	if a.Backing.Prune != nil {
		if err := a.Backing.Prune(ctx, p); err != nil {
			return reconcile.Failed(vocabulary.ReasonConfigError, err)
		}
	}
	done := reconcile.Done(vocabulary.ReasonDeploymentReady, "All API pods are updated and available")
	if a.Backing.Complete == nil {
		return done
	}
	news, err := a.Backing.Complete(ctx, p)
	switch {
	case err != nil:
		return reconcile.Failed(vocabulary.ReasonWaitingForDeployment, err)
	case news != "":
		return done.OnRecord(corev1.EventTypeNormal, vocabulary.EventDeploymentRolloutComplete, news)
	}
	return done
}

// ensurePods applies the Deployment and its PodDisruptionBudget, and reports whether the
// rollout has ended. During an offline upgrade the Deployment has no pods.
func ensurePods(ctx context.Context, p *service.Pass, deploy *appsv1.Deployment) (ready bool, err error) {
	offline, replicas := p.Status.UpgradePhase.IsOffline(), deploy.Spec.Replicas
	if offline {
		// A HorizontalPodAutoscaler pauses while there are none
		// (https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#implicit-maintenance-mode-deactivation).
		deploy.Spec.Replicas = ptr.To(int32(0))
	}
	if ready, err = EnsureDeployment(ctx, p.Client, p.Scheme, p.Resource, deploy); err != nil {
		return false, err
	}
	if !offline {
		// With autoscaling, this is what the autoscaler has set.
		replicas = deploy.Spec.Replicas
	}
	budget := InstanceOf(p).DisruptionBudget(ptr.Deref(replicas, p.Spec.Replicas))
	return ready, apply.EnsureObject(ctx, p.Client, p.Scheme, p.Resource, budget, apply.FieldManager)
}

// reportStopped is the outcome while an offline upgrade keeps the API pods stopped.
func reportStopped(p *service.Pass) reconcile.Outcome {
	if p.Status.DownSince == nil {
		p.Status.DownSince = ptr.To(metav1.NewTime(p.Now()).Rfc3339Copy())
	}
	return reconcile.Failed(vocabulary.ReasonDeploymentStopped, SinceWhenDown(p, reconcile.WaitError("", fmt.Sprintf(
		"The API pods are stopped for the offline upgrade from %s to %s", p.Status.InstalledRelease, p.Status.TargetRelease))))
}

// SinceWhenDown adds to an error since when an offline upgrade has stopped the API, if it
// has.
func SinceWhenDown(p *service.Pass, err error) error {
	if err == nil || p.Status.DownSince == nil {
		return err
	}
	return fmt.Errorf("%w; the API has been down since %s", err, p.Status.DownSince.UTC().Format(time.RFC3339))
}

// optional calls an optional function of a declaration; nil returns the zero value.
func optional[P, T any](function func(P) T, of P) T {
	if function == nil {
		var none T
		return none
	}
	return function(of)
}

// Deployment builds the Deployment of the API pods. families are the address families that
// the API server has given the Service.
func (a API[S]) Deployment(s S, families ...corev1.IPFamily) *appsv1.Deployment {
	p := s.ServicePass()
	name := p.Resource.GetName()
	mounts := slices.Concat([]Mount{ConfigMount(p, optional(a.Options, s)...)}, optional(a.Mounts, s), optional(a.Backing.Mounts, p))
	pod := PodsOf(p).Spec(a.container(s, families), mounts...)
	if proxy := optional(a.Proxy, s); proxy != nil {
		proxy.join(p, &pod)
	}
	pod.TerminationGracePeriodSeconds = ptr.To(p.Spec.TerminationGracePeriod())
	pod.TopologySpreadConstraints = InstanceOf(p).SpreadConstraints(p.Spec.TopologySpreadConstraints)
	if pod.Affinity = p.Spec.Affinity; pod.Affinity == nil {
		pod.Affinity = InstanceOf(p).Affinity(p.Spec.TopologySpreadConstraints)
	}
	annotations := requesting(p.Spec.Image.Reference(), optional(a.Backing.Annotations, p))
	maps.Copy(annotations, optional(a.Annotations, s))
	deploy := &appsv1.Deployment{
		ObjectMeta: p.Meta(name),
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: p.SelectorLabels(name)},
			Strategy: RolloutStrategy(p.Spec.Strategy),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: PodsOf(p).meta(p.Labels(name), annotations),
				Spec:       pod,
			},
		},
	}
	if p.Spec.Autoscaling == nil {
		deploy.Spec.Replicas = ptr.To(p.Spec.Replicas)
	}
	return deploy
}

func (a API[S]) container(s S, families []corev1.IPFamily) corev1.Container {
	p := s.ServicePass()
	return corev1.Container{
		Name:    p.CodeName,
		Image:   p.Spec.Image.Reference(),
		Command: a.server(s, families).Command(workers(p)),
		Ports:   []corev1.ContainerPort{{Name: p.CodeName, ContainerPort: p.Port, Protocol: corev1.ProtocolTCP}, readyPort},
		Env: slices.Concat(optional(a.Backing.Env, p), p.Environment, DrainVariables(p.CodeName), RequestVariables(p.LargeBodies),
			readyVariables(p.ConfigDir)),
		Resources:      ptr.Deref(p.Spec.Resources, corev1.ResourceRequirements{}),
		StartupProbe:   a.startupProbe(p.Port),
		LivenessProbe:  livenessProbe(p.Port),
		ReadinessProbe: readinessProbe(),
		Lifecycle:      DrainHook(p.CodeName, p.Spec.PreStopSleep()),
	}
}

// largeBodyThreads is how many uploads and downloads a worker process serves at once, which
// mostly wait for the network.
const largeBodyThreads = 16

// workers returns the settings of uWSGI.
func workers(p *service.Pass) *commonv1.UWSGISpec {
	if p.Spec.UWSGI != nil || !p.LargeBodies {
		return p.Spec.UWSGI
	}
	spec := &commonv1.UWSGISpec{Threads: largeBodyThreads}
	spec.SetDefaults()
	return spec
}

// server returns how uWSGI serves the instance. An image of which nothing is known is
// expected to have the script.
func (a API[S]) server(s S, families []corev1.IPFamily) UWSGI {
	p := s.ServicePass()
	server := UWSGI{
		Port: p.Port, IPv6: slices.Equal(families, []corev1.IPFamily{corev1.IPv6Protocol}),
		File: optional(a.Wrapper, s), Arguments: a.Arguments,
	}
	if optional(a.Proxy, s) != nil {
		server.Port, server.Proxied = ProxiedPort(p), true
	}
	if server.File != "" {
		return server
	}
	found := image.Found(p.Status, p.Spec.Image.Reference())
	switch {
	case found != nil && found.Script != "":
		server.File = found.Script
	case found != nil && found.Module != "":
		server.Module = found.Module
	case p.Application.Script != "":
		server.File = p.Application.Script
	default:
		server.Module = p.Application.Module
	}
	return server
}

// explainRollout is the error of a rollout that waits. It says for what, by the newest
// troubled pod, which may have ended.
func (a API[S]) explainRollout(ctx context.Context, p *service.Pass, deploy *appsv1.Deployment) error {
	var list corev1.PodList
	err := p.Client.List(ctx, &list, client.InNamespace(deploy.Namespace), client.MatchingLabels(p.SelectorLabels(deploy.Name)))
	if err != nil {
		return fmt.Errorf("listing the API pods: %w", err)
	}
	message := "The Deployment is rolling out: " + Progress(deploy)
	problem, imagePull := poddiag.Problem(list.Items, p.Hidden()...)
	if problem == "" {
		problem = a.unready(p, list.Items)
	}
	refusal := Refusal(deploy)
	switch {
	case imagePull:
		return reconcile.WaitError(vocabulary.ReasonImagePullFailed, "The Deployment does not roll out: "+problem)
	case refusal != "":
		return reconcile.WaitError("", "The Deployment does not roll out: "+poddiag.Refusal(refusal))
	case problem != "":
		message += "; " + problem
	}
	return reconcile.WaitError("", message)
}

// settleTime is how long after its start a pod may be unready before the condition
// mentions it.
const settleTime = 30 * time.Second

// unready describes a pod that is running but not ready; it returns "" if there is none.
func (a API[S]) unready(p *service.Pass, pods []corev1.Pod) string {
	requires := "workers that finish requests"
	if p.Data != nil {
		database := "the database"
		if address := optional(a.Backing.Address, p); address != "" {
			database += " at " + address
		}
		requires = "a login to " + database + ", its tables, and " + requires
	}
	for i := range pods {
		for _, container := range pods[i].Status.ContainerStatuses {
			running := container.State.Running
			if running != nil && !container.Ready && pods[i].DeletionTimestamp == nil && time.Since(running.StartedAt.Time) > settleTime {
				return fmt.Sprintf("pod %s is running but not ready: readiness requires %s; the pod's log gives the reason",
					pods[i].Name, requires)
			}
		}
	}
	return ""
}
