package schema

import (
	"context"
	"fmt"
	"time"

	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/job"
)

// Annotations on the Job that checks the schema. annotationDatabase records the Database of
// mariadb-operator whose schema it checks, annotationOutage since when no API pod was
// available before it.
const (
	annotationDatabase = "forge.c5c3.io/checked-database"
	annotationOutage   = "forge.c5c3.io/checked-after"
)

// doubtAfter is how long no API pod has been available before the schema is checked again.
// The pods read a table, so its loss looks like this. Servers that change places take less.
const doubtAfter = time.Minute

// recheck tells whether a check of the schema that has succeeded still counts. Tables may
// be dropped at any time after it, together with their database or alone.
type recheck struct {
	// last is the Job of the last check, nil for none.
	last *batchv1.Job
	// object is the Database that stands for the database now, identity what identifies it.
	object   *mariadbv1alpha1.Database
	identity string
	// replaced is when the Database was created if that is later than the API pods, "" otherwise.
	replaced string
	// outage is since when no API pod has been available, "" if the last check is newer.
	outage string
	// again is when an outage that has just begun is one, zero for never.
	again time.Duration
	// harmless reports whether later steps may run although the schema is being checked or
	// does not fit: the pods already have the image and the connection.
	harmless bool
}

// findRecheck looks at what the schema was last checked of.
func (w *work) findRecheck(ctx context.Context) (found recheck, err error) {
	if found.last, err = w.Jobs.Find(ctx, w.Resource, w.Named(TaskCheck)); err != nil {
		return recheck{}, err
	}
	if found.object = w.access().Object(); found.object != nil {
		found.identity = fmt.Sprintf("%s/%d", found.object.UID, found.object.Generation)
	}
	live, err := deployment.Live(ctx, w.Pass)
	if live == nil || err != nil {
		return found, err
	}
	if found.object != nil && found.object.CreationTimestamp.After(live.CreationTimestamp.Time) {
		found.replaced = found.object.CreationTimestamp.UTC().Format(time.RFC3339)
	}
	found.harmless = w.Status.InstalledRelease == w.Spec.Image.Tag && !w.access().Candidate() &&
		deployment.APIImage(w.Definition, &live.Spec.Template.ObjectMeta, &live.Spec.Template.Spec) == w.Spec.Image.Reference()
	if found.harmless && w.Status.UpgradePhase == "" {
		found.outage, found.again = w.outage(live, found.last)
	}
	return found, nil
}

// outage returns since when no API pod has been available if that makes another check
// necessary, and otherwise in how long it will.
func (w *work) outage(live *appsv1.Deployment, last *batchv1.Job) (since string, again time.Duration) {
	if last == nil {
		return "", 0
	}
	ended, succeeded, at := job.Ended(last)
	recorded := last.Annotations[annotationOutage]
	began := unavailableSince(live)
	switch {
	case began.IsZero() && ended && !succeeded:
		// What the check could not reach is back: it is not to wait for its retry.
		return "", 0
	case began.IsZero() || !ended || began.Before(at):
		return recorded, 0
	}
	if left := doubtAfter - w.Now().Sub(began); left > 0 {
		return recorded, left
	}
	return began.UTC().Format(time.RFC3339), 0
}

// unavailableSince returns since when no API pod has been available, zero if one is.
func unavailableSince(live *appsv1.Deployment) time.Time {
	for _, condition := range live.Status.Conditions {
		if condition.Type == appsv1.DeploymentAvailable && condition.Status == corev1.ConditionFalse &&
			live.Status.AvailableReplicas == 0 {
			return condition.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

// of makes a task a check of the database as it is now: the success of an earlier one
// counts only if it was about the same Database and no outage came after it.
func (r recheck) of(check deployment.Task) deployment.Task {
	check.JobAnnotations = map[string]string{}
	for annotation, value := range map[string]string{annotationDatabase: r.identity, annotationOutage: r.outage} {
		if value != "" {
			check.JobAnnotations[annotation] = value
		}
	}
	doubts := []any{check.RunKey}
	if r.identity != "" && !r.covers(check) {
		doubts = append(doubts, r.identity)
	}
	if r.outage != "" {
		doubts = append(doubts, r.outage)
	}
	if len(doubts) > 1 {
		check.RunKey = doubts
	}
	return check
}

// covers reports whether the last check is that of an operator which did not record the
// Database, and is younger than it. Such a check is not repeated.
func (r recheck) covers(check deployment.Task) bool {
	if r.last == nil || r.last.Annotations[annotationDatabase] != "" {
		return false
	}
	key, err := job.Hash(check.RunKey)
	return err == nil && r.last.Annotations[job.RunKeyAnnotation] == key &&
		!r.last.CreationTimestamp.Time.Before(r.object.CreationTimestamp.Time)
}

// recheckHint says what to do about a schema that has passed an earlier check, if the task
// checks it.
func (w *work) recheckHint(task string) string {
	if task != TaskCheck || w.Status.InstalledRelease == "" || w.Status.UpgradePhase != "" {
		return ""
	}
	what := ""
	switch {
	case w.recheck.replaced != "":
		what = fmt.Sprintf("Database %s was created anew at %s", w.recheck.object.Name, w.recheck.replaced)
	case w.recheck.outage != "":
		what = "no API pod has been available since " + w.recheck.outage
	default:
		return ""
	}
	hint := "; " + what + ": if tables are missing, restore a backup of database " + w.Data.Database.Database
	if w.RunAgain != "" {
		hint += ", or set the annotation " + w.RunAgain + " to a new value to begin with an empty one"
	}
	return hint
}
