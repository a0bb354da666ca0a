package controller

import (
	"cmp"
	"context"
	"fmt"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/c5c3/forge/internal/common/enqueue"
	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

const (
	rotationControllerName = "credentialrotation"
	rotationRecorderName   = "credentialrotation-controller"
	// rotationStep is the name of its passes in the metrics.
	rotationStep = "CredentialRotation"
	// rotationSafetyNet is how often a waiting CredentialRotation is looked at
	// though nothing has changed.
	rotationSafetyNet = 2 * time.Minute
)

// rotationReconciler asks for new application credentials. It writes the request
// on the credential; the ControlPlane's own controller does the rest.
type rotationReconciler struct {
	*toolbox
	recorder events.EventRecorder
	metrics  *reconcile.Metrics
	day      time.Duration
	races    reconcile.Races
}

// watchRotations registers the controller of CredentialRotations. What becomes
// of a credential shows in the status of its ControlPlane, so that this is
// watched, and the Secrets, one of which has the administrator's password.
func watchRotations(mgr ctrl.Manager, tools *toolbox, stepMetrics *reconcile.Metrics, day time.Duration) error {
	find := enqueue.Finder[*c5c3v1alpha1.CredentialRotation]{
		Reader: mgr.GetClient(), Plural: "CredentialRotations",
		NewList: func() client.ObjectList { return &c5c3v1alpha1.CredentialRotationList{} },
	}
	err := ctrl.NewControllerManagedBy(mgr).Named(rotationControllerName).
		For(&c5c3v1alpha1.CredentialRotation{}).
		Watches(&c5c3v1alpha1.ControlPlane{}, handler.EnqueueRequestsFromMapFunc(find.Neighbours)).
		WatchesRawSource(tools.refs.SecretSource(find.Neighbours)).
		Complete(&rotationReconciler{
			toolbox: tools, recorder: mgr.GetEventRecorder(rotationRecorderName), metrics: stepMetrics, day: day,
		})
	if err != nil {
		return fmt.Errorf("building the controller of CredentialRotations: %w", err)
	}
	return nil
}

// Reconcile runs one pass. A lost race is a reason to look again, as it is for the
// other kinds.
func (r *rotationReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	result, err := r.runPass(ctx, request)
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: r.races.Lost(request.NamespacedName)}, nil
	}
	r.races.Over(request.NamespacedName)
	return result, err
}

// runPass decides about one CredentialRotation and does what was decided.
func (r *rotationReconciler) runPass(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	rotation := &c5c3v1alpha1.CredentialRotation{}
	if err := r.client.Get(ctx, request.NamespacedName, rotation); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !rotation.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	before, started := rotation.Status.DeepCopy(), time.Now()
	decision, err := r.act(ctx, rotation)
	if apierrors.IsConflict(err) {
		return ctrl.Result{}, err
	}
	r.metrics.Observe(rotationStep, c5c3v1alpha1.ConditionReady, time.Since(started), err != nil)
	if err != nil {
		decision = rotationDecision{reason: cmp.Or(decision.reason, c5c3v1alpha1.ReasonReconcileError), message: err.Error()}
	}
	recordRotation(rotation, decision, r.now(rotation.Namespace))
	if !equality.Semantic.DeepEqual(before, &rotation.Status) {
		if writeErr := r.client.Status().Update(ctx, rotation); writeErr != nil {
			return ctrl.Result{}, client.IgnoreNotFound(writeErr)
		}
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	if decision.after == 0 && !decision.ready {
		decision.after = rotationSafetyNet
	}
	return ctrl.Result{RequeueAfter: decision.after}, nil
}

// act looks up the facts, decides, and writes the request. Beside an error the
// decision has at most a reason.
func (r *rotationReconciler) act(ctx context.Context, rotation *c5c3v1alpha1.CredentialRotation) (rotationDecision, error) {
	if decision, refused := refuseRotation(rotation); refused {
		return decision, nil
	}
	var all c5c3v1alpha1.ControlPlaneList
	if err := r.client.List(ctx, &all, client.InNamespace(rotation.Namespace)); err != nil {
		return rotationDecision{reason: c5c3v1alpha1.ReasonControlPlaneListError},
			fmt.Errorf("listing the ControlPlanes of the namespace: %w", err)
	}
	switch len(all.Items) {
	case 0:
		return rotationDecision{
			reason: c5c3v1alpha1.ReasonNoControlPlane, message: "The namespace has no ControlPlane whose credential could be replaced",
		}, nil
	case 1:
	default:
		return rotationDecision{
			reason: c5c3v1alpha1.ReasonAmbiguousControlPlane, message: "The namespace has several ControlPlanes: delete all but one",
		}, nil
	}
	cp := &all.Items[0]
	c5c3v1alpha1.SetDefaults(cp)
	facts, credential, err := r.facts(ctx, rotation, cp)
	if err != nil {
		return rotationDecision{}, err
	}
	decision := decideRotation(facts)
	if decision.request == "" {
		return decision, nil
	}
	if err := r.ask(ctx, credential, decision); err != nil {
		return rotationDecision{}, err
	}
	r.recorder.Eventf(rotation, nil, corev1.EventTypeNormal, c5c3v1alpha1.EventRotationNudged, "Rotate",
		"Requested a new application credential for ControlPlane %s", cp.Name)
	return decision, nil
}

func (r *rotationReconciler) facts(
	ctx context.Context, rotation *c5c3v1alpha1.CredentialRotation, cp *c5c3v1alpha1.ControlPlane,
) (rotationFacts, *orcv1alpha1.ApplicationCredential, error) {
	facts := rotationFacts{
		rotation: rotation, now: r.now(rotation.Namespace), day: r.day, mode: cp.Spec.KORC.AdminCredential.ApplicationCredential.Rotation.Mode,
	}
	secret, ref := &corev1.Secret{}, adminSecretRef(cp)
	err := r.refs.Get(ctx, client.ObjectKey{Namespace: cp.Namespace, Name: ref.Name}, secret)
	if client.IgnoreNotFound(err) != nil {
		return facts, nil, fmt.Errorf("reading Secret %s: %w", ref.Name, err)
	}
	if password := secret.Data[ref.Key]; len(password) > 0 {
		facts.password = fullHash(string(password))
	}
	credential := &orcv1alpha1.ApplicationCredential{}
	used := cp.Status.AdminApplicationCredential
	if !r.kinds.Served(korcKind("ApplicationCredential")) || used == nil || used.LastRotation == nil {
		return facts, credential, nil
	}
	err = r.foreign.Get(ctx, client.ObjectKey{Namespace: cp.Namespace, Name: cp.ApplicationCredentialName()}, credential)
	if client.IgnoreNotFound(err) != nil {
		return facts, nil, fmt.Errorf("reading the ApplicationCredential: %w", err)
	}
	// A credential that is still being created or replaced is not replaced.
	facts.exists = err == nil && credential.DeletionTimestamp.IsZero() && metav1.IsControlledBy(credential, cp) &&
		ptr.Deref(credential.Status.ID, "") == used.ID
	facts.inUseSince = used.LastRotation.Time
	facts.request = credential.Annotations[c5c3v1alpha1.AnnotationRotationRequest]
	facts.passwordHash, facts.stamped = credential.Annotations[c5c3v1alpha1.AnnotationAdminPasswordHash]
	return facts, credential, nil
}

// ask writes the request on exactly the credential that was looked at.
func (r *rotationReconciler) ask(ctx context.Context, credential *orcv1alpha1.ApplicationCredential, d rotationDecision) error {
	before := credential.DeepCopy()
	metav1.SetMetaDataAnnotation(&credential.ObjectMeta, c5c3v1alpha1.AnnotationAdminPasswordHash, "")
	metav1.SetMetaDataAnnotation(&credential.ObjectMeta, c5c3v1alpha1.AnnotationRotationRequest, d.request)
	// What another request has promised is kept. One that cannot be read is none.
	promised, _ := time.ParseDuration(credential.Annotations[c5c3v1alpha1.AnnotationCredentialOverlap])
	if overlap := max(promised, d.overlap); overlap > 0 {
		metav1.SetMetaDataAnnotation(&credential.ObjectMeta, c5c3v1alpha1.AnnotationCredentialOverlap, overlap.String())
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.foreign.Patch(ctx, credential, patch); err != nil {
		return fmt.Errorf("asking for a new application credential: %w", err)
	}
	return nil
}

// recordRotation puts the decision into the status.
func recordRotation(rotation *c5c3v1alpha1.CredentialRotation, d rotationDecision, now time.Time) {
	status := &rotation.Status
	status.ObservedGeneration = rotation.Generation
	status.NextRotation = d.next
	if d.reMinted {
		status.LastTriggeredGeneration = rotation.Generation
	}
	ready := meta.FindStatusCondition(status.Conditions, c5c3v1alpha1.ConditionReady)
	triggered := ready != nil && ready.ObservedGeneration == rotation.Generation && ready.Reason == c5c3v1alpha1.ReasonRotationTriggered
	switch {
	case d.reason == c5c3v1alpha1.ReasonRotationTriggered && !triggered:
		status.LastRotation = ptr.To(metav1.NewTime(now).Rfc3339Copy())
	case triggered && (d.reason == c5c3v1alpha1.ReasonNoRotationNeeded || d.reason == c5c3v1alpha1.ReasonWaitingForApplicationCredential):
		// While the new credential is made, and when it is, that it was asked for
		// is still all there is to say.
		return
	}
	set := func(conditionType string, value metav1.ConditionStatus, reason string) {
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{
			Type: conditionType, Status: value, Reason: reason, Message: d.message, ObservedGeneration: rotation.Generation,
		})
	}
	meta.RemoveStatusCondition(&status.Conditions, c5c3v1alpha1.ConditionReconciling)
	meta.RemoveStatusCondition(&status.Conditions, c5c3v1alpha1.ConditionStalled)
	switch {
	case d.ready:
		set(c5c3v1alpha1.ConditionReady, metav1.ConditionTrue, d.reason)
		return
	case d.reason == c5c3v1alpha1.ReasonInvalidSpec || d.reason == c5c3v1alpha1.ReasonUnsupportedTarget:
		set(c5c3v1alpha1.ConditionStalled, metav1.ConditionTrue, c5c3v1alpha1.ReasonInvalidSpec)
	case d.reason == c5c3v1alpha1.ReasonRotationModeNotScheduled:
		set(c5c3v1alpha1.ConditionStalled, metav1.ConditionTrue, d.reason)
	default:
		set(c5c3v1alpha1.ConditionReconciling, metav1.ConditionTrue, c5c3v1alpha1.ReasonProgressing)
	}
	set(c5c3v1alpha1.ConditionReady, metav1.ConditionFalse, d.reason)
}
