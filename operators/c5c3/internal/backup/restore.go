package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"filippo.io/age"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/fernet"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/poddiag"
	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
)

// restore is a requested restore in one pass.
type restore struct {
	*pass.Pass
	all services.List
	// request is the value of the annotation, and at the time in it.
	request string
	at      metav1.Time
	// identities open the keys in the backup.
	identities []age.Identity
	// replaces is true once the backup is proven to be good, and the databases are replaced.
	replaces bool
}

// ReconcileRestore restores a backup when the annotation of the control plane requests it.
// First, another server gets the backup. The databases are replaced only after the keys in
// the backup are proven to open its credentials.
func ReconcileRestore(ctx context.Context, s *pass.Pass, all services.List) reconcile.Outcome {
	request := s.CP.PendingRestore()
	if request == "" {
		return idle(ctx, s)
	}
	r := &restore{Pass: s, all: all, request: request}
	err := r.run(ctx)
	if err == nil {
		s.CP.Status.Restore = &c5c3v1alpha1.RestoreStatus{Request: request, CompletionTime: metav1.NewTime(s.Now())}
		return restored(s.CP)
	}
	outcome := reconcile.WriteFailed(c5c3v1alpha1.ReasonRestoreError, err)
	if !r.replaces && all.Identity().Installed(s.CP) != "" {
		// Nothing has changed yet, so the services go on. Without an installed Keystone they
		// wait: a new one would generate other keys.
		return outcome.Proceed()
	}
	return outcome
}

// idle removes what a restore has left.
func idle(ctx context.Context, s *pass.Pass) reconcile.Outcome {
	if _, err := discard(ctx, s); err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonRestoreError, err)
	}
	return restored(s.CP)
}

func restored(cp *c5c3v1alpha1.ControlPlane) reconcile.Outcome {
	if last := cp.Status.Restore; last != nil {
		return reconcile.Done(c5c3v1alpha1.ReasonRestored, fmt.Sprintf(
			"The backup that is closest to %s was restored at %s", last.Request, last.CompletionTime.UTC().Format(time.RFC3339)))
	}
	return reconcile.Done(c5c3v1alpha1.ReasonNoRestoreRequested, "No restore is requested")
}

// discard removes the objects of a restore, and reports whether they are gone.
func discard(ctx context.Context, s *pass.Pass) (gone bool, err error) {
	type removal struct {
		client client.Client
		object client.Object
	}
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: s.CP.Namespace, Name: name} }
	var removals []removal
	for _, name := range []string{readName(s.CP), proofName(s.CP), dropName(s.CP)} {
		removals = append(removals, removal{s.Client, &batchv1.Job{ObjectMeta: meta(name)}})
	}
	if s.Kinds.Served(infraapi.RestoreKind) {
		for _, name := range []string{loadName(s.CP), CheckServer(s.CP)} {
			removals = append(removals, removal{s.ThirdParty, &infraapi.Restore{ObjectMeta: meta(name)}})
		}
	}
	if s.Kinds.Served(infraapi.MariaDBKind) {
		removals = append(removals, removal{s.ThirdParty, &infraapi.MariaDB{ObjectMeta: meta(CheckServer(s.CP))}})
	}
	gone = true
	for _, r := range removals {
		live, err := apply.Find(ctx, r.client, client.ObjectKeyFromObject(r.object), r.object)
		if err != nil {
			return false, err
		}
		if live == nil || !metav1.IsControlledBy(live, s.CP) {
			continue
		}
		gone = false
		if err := apply.EnsureAbsent(ctx, r.client, s.CP, r.object); err != nil {
			return false, err
		}
	}
	return gone, nil
}

func refuse(format string, arguments ...any) error {
	return reconcile.TerminalError(c5c3v1alpha1.ReasonRestoreRefused, fmt.Errorf(format, arguments...))
}

// checking reports what the proof of the backup waits for.
func checking(format string, arguments ...any) error {
	return reconcile.WaitError(c5c3v1alpha1.ReasonCheckingBackup, "The backup is being checked: "+fmt.Sprintf(format, arguments...))
}

func restoring(format string, arguments ...any) error {
	return reconcile.WaitError(c5c3v1alpha1.ReasonRestoring, "The backup is being restored: "+fmt.Sprintf(format, arguments...))
}

// run returns an error until the backup is restored.
func (r *restore) run(ctx context.Context) error {
	if err := r.prepare(ctx); err != nil {
		return err
	}
	server, err := pass.MariaDB(ctx, r.Pass, r.CP.Spec.Infrastructure.Database.ClusterRef.Name)
	if err != nil {
		return err
	}
	target, filledIn := serverOf(server)
	if !filledIn {
		return checking("MariaDB %s does not name its image and the Secret of its root yet", r.CP.Spec.Infrastructure.Database.ClusterRef.Name)
	}
	found, err := r.check(ctx, server)
	if err != nil {
		return err
	}
	r.replaces = true
	return r.replace(ctx, target, found)
}

// prepare reads what the restore needs, and stops the schedule: another backup could be closer
// to the requested time.
func (r *restore) prepare(ctx context.Context) error {
	at, err := time.Parse(time.RFC3339, r.request)
	if err != nil {
		return refuse("the value of annotation %s is not a time such as 2026-11-21T01:00:00Z: correct it", c5c3v1alpha1.AnnotationRestore)
	}
	r.at = metav1.NewTime(at)
	if r.CP.Spec.Backup == nil {
		return refuse("spec.backup is not set: set it to where the backup is stored")
	}
	ref := r.CP.Spec.Backup.EncryptionKeySecretRef
	key, err := readEncryptionKey(ctx, r.Pass)
	if err != nil {
		return err
	}
	if r.identities, err = age.ParseIdentities(bytes.NewReader(key)); err != nil {
		return refuse("the key %s of Secret %s is not an age identity, without which nobody can read the keys in the backup: "+
			"store the identity there", ref.KeyOr(defaultEncryptionKey), ref.Name)
	}
	return r.suspendSchedule(ctx)
}

// suspendSchedule suspends an existing schedule and waits for a backup that is being taken.
func (r *restore) suspendSchedule(ctx context.Context) error {
	if !r.Kinds.Served(infraapi.BackupKind) {
		return nil
	}
	desired := schedule(r.Cluster, r.CP, r.all.Databases(r.CP))
	desired.Spec.Schedule.Suspend = true
	live, err := apply.Find(ctx, r.ThirdParty, client.ObjectKeyFromObject(desired), &infraapi.Backup{})
	if live == nil || err != nil || replaces(live.Spec, desired.Spec) {
		return err
	}
	if err := apply.EnsureObject(ctx, r.ThirdParty, r.Scheme, r.CP, desired, pass.FieldManager); err != nil {
		return err
	}
	cronJob, err := apply.Find(ctx, r.Client, client.ObjectKeyFromObject(desired), &batchv1.CronJob{})
	if err == nil && cronJob != nil && len(cronJob.Status.Active) > 0 {
		return checking("Job %s still takes a backup", cronJob.Status.Active[0].Name)
	}
	return err
}

// check loads the backup into another server, and returns its bundle once that is proven to
// fit.
func (r *restore) check(ctx context.Context, like *infraapi.MariaDB) (bundle, error) {
	access, err := r.checkServer(ctx, like)
	if err != nil {
		return bundle{}, err
	}
	if err := r.load(ctx, CheckServer(r.CP), CheckServer(r.CP), checking); err != nil {
		return bundle{}, err
	}
	found, err := r.read(ctx, access)
	if err != nil {
		return bundle{}, err
	}
	if err := r.fits(found); err != nil {
		return bundle{}, err
	}
	proof := proving(r.CP.Spec.Infrastructure.Database.Database, found.keyHashes())
	if err := r.statements(ctx, access, proofName(r.CP), proof, checking); err != nil {
		if errors.Is(err, job.ErrJobFailed) {
			return bundle{}, refuse("the keys in the backup do not fit its databases: %w; choose another backup", err)
		}
		return bundle{}, err
	}
	return found, nil
}

// checkServer returns the access to the server for the proof.
func (r *restore) checkServer(ctx context.Context, like *infraapi.MariaDB) (server, error) {
	desired := checkServer(r.CP, like)
	desired.Annotations = map[string]string{c5c3v1alpha1.AnnotationRestore: r.request}
	live, err := apply.Find(ctx, r.ThirdParty, client.ObjectKeyFromObject(desired), &infraapi.MariaDB{})
	if err != nil {
		return server{}, err
	}
	if live == nil || live.Annotations[c5c3v1alpha1.AnnotationRestore] != r.request || !live.DeletionTimestamp.IsZero() {
		// An earlier request may have left something.
		gone, err := discard(ctx, r.Pass)
		switch {
		case err != nil:
			return server{}, err
		case !gone:
			return server{}, checking("an earlier restore is being removed")
		}
	}
	if err := apply.EnsureObject(ctx, r.ThirdParty, r.Scheme, r.CP, desired, pass.FieldManager); err != nil {
		return server{}, err
	}
	access, filledIn := serverOf(desired)
	if !desired.Status.Ready() || !filledIn {
		return server{}, checking("MariaDB %s is starting: %s", desired.Name, desired.Status.Message())
	}
	return access, nil
}

// load returns an error until the dump is loaded into the server. The name is that of the
// Restore and of its Job.
func (r *restore) load(ctx context.Context, name, into string, waiting func(string, ...any) error) error {
	if !r.Kinds.Served(infraapi.RestoreKind) {
		return waiting("the cluster has no kind Restore of mariadb-operator: install its definitions")
	}
	desired := load(r.Cluster, r.CP, name, into, r.at)
	if err := apply.EnsureObject(ctx, r.ThirdParty, r.Scheme, r.CP, desired, pass.FieldManager); err != nil {
		return err
	}
	ended, succeeded := loaded(desired)
	if succeeded {
		return nil
	}
	trouble, err := r.trouble(ctx, name)
	if err != nil {
		return err
	}
	log := fmt.Sprintf("kubectl -n %s logs job/%s --all-containers shows its log", r.CP.Namespace, name)
	if ended {
		return reconcile.TerminalError(c5c3v1alpha1.ReasonRestoreFailed, fmt.Errorf(
			"job %s could not load the backup into MariaDB %s: %s; %s; to try again, change the time in annotation %s by a second",
			name, into, strings.TrimSpace(trouble), log, c5c3v1alpha1.AnnotationRestore))
	}
	if trouble != "" {
		return waiting("Job %s: %s; %s", name, trouble, log)
	}
	return waiting("Job %s loads it into MariaDB %s", name, into)
}

// trouble describes what keeps the pods of a Job from succeeding.
func (r *restore) trouble(ctx context.Context, name string) (string, error) {
	live, err := apply.Find(ctx, r.Client, pass.Key(r.Pass, name), &batchv1.Job{})
	if live == nil || err != nil {
		return "", err
	}
	pods, err := job.Pods(ctx, r.Client, live)
	text, _ := poddiag.Problem(pods)
	return text, err
}

// read returns the bundle in the database of the server.
func (r *restore) read(ctx context.Context, access server) (bundle, error) {
	state, err := runner(r.Pass).Run(ctx, r.CP, readBundleJob(r.CP, access, r.request))
	switch {
	case errors.Is(err, job.ErrJobFailed):
		return bundle{}, refuse("the backup holds no keys of Keystone: %w; it was not taken by spec.backup", err)
	case err != nil:
		return bundle{}, err
	case !state.Complete:
		return bundle{}, checking("Job %s reads the keys %s", readName(r.CP), state.Waiting)
	}
	// The cache does not have pods that have succeeded.
	pods, err := job.Pods(ctx, r.APIReader, state.Job)
	if err != nil {
		return bundle{}, err
	}
	for i := range pods {
		if text := messages(&pods[i]); pods[i].Status.Phase == corev1.PodSucceeded && text != "" {
			found, err := open(text, r.identities)
			if err != nil {
				return bundle{}, refuse("%w: store the key with which it was encrypted in Secret %s",
					err, r.CP.Spec.Backup.EncryptionKeySecretRef.Name)
			}
			return found, nil
		}
	}
	return bundle{}, refuse("the pod of Job %s with the keys in the backup is gone: change the time in annotation %s by a second",
		readName(r.CP), c5c3v1alpha1.AnnotationRestore)
}

// fits refuses the backup of another control plane or of a later release.
func (r *restore) fits(found bundle) error {
	wanted := bundle{Cluster: r.Cluster.Name, Namespace: r.CP.Namespace, Name: r.CP.Name}
	if got := (bundle{Cluster: found.Cluster, Namespace: found.Namespace, Name: found.Name}); got.path() != wanted.path() {
		return refuse("the backup is of control plane %s, and this is %s: correct spec.backup.storage", got.path(), wanted.path())
	}
	target := r.CP.Spec.OpenStackRelease
	if found.Release > target && !strings.HasPrefix(found.Release, target) {
		return refuse("the backup is of release %s, and spec.openStackRelease is %s: set it to the release of the backup, "+
			"or choose an earlier backup", found.Release, target)
	}
	for _, keys := range []keySet{found.TokenKeys, found.CredentialKeys} {
		if err := fernet.ValidateInUse(keys.data()); err != nil {
			return refuse("the keys in the backup cannot be used: %w", err)
		}
	}
	return nil
}

// statements returns an error until the server has run the statements.
func (r *restore) statements(ctx context.Context, access server, name, text string, waiting func(string, ...any) error) error {
	state, err := runner(r.Pass).Run(ctx, r.CP, runText(r.CP, access, name, text, r.request))
	if err != nil || state.Complete {
		return err
	}
	return waiting("Job %s runs %s", name, state.Waiting)
}
