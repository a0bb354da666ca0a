package backup

import (
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
)

// annotationDigest on the Secret with the statements identifies the keys in it, and the age
// keys that open them.
const annotationDigest = "c5c3.io/backup-digest"

// Reconcile schedules the backups, and reports the last good one. A dump is a good backup once
// its keys are proven to open the credentials in the database.
func Reconcile(ctx context.Context, s *pass.Pass, all services.List) reconcile.Outcome {
	switch {
	case s.CP.Spec.Backup == nil:
		return withdraw(ctx, s)
	case s.CP.Spec.Services.Keystone == nil:
		return reconcile.Done(c5c3v1alpha1.ReasonKeystoneNotManaged, "spec.services.keystone is not set: the schedule stays as it is")
	}
	if s.CP.PendingRestore() != "" {
		return reconcile.Degraded(c5c3v1alpha1.ReasonRestoring, "No backups are taken until the requested restore is completed or withdrawn")
	}
	run, err := findRun(ctx, s)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonBackupError, err)
	}
	if err := storeKeys(ctx, s, all, run.last); err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonBackupKeysNotStored, err)
	}
	if err := keepSchedule(ctx, s, all); err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonBackupError, err)
	}
	if run.last != nil {
		s.CP.Status.Backup.LastSuccessTime = run.last
	}
	return run.report(s.CP)
}

// withdraw removes the schedule. The backups stay where they are stored.
func withdraw(ctx context.Context, s *pass.Pass) reconcile.Outcome {
	s.CP.Status.Backup = nil
	meta := func(name string) metav1.ObjectMeta { return controlplane.ChildMeta(s.CP, name) }
	if s.Kinds.Served(infraapi.BackupKind) {
		if err := apply.EnsureAbsent(ctx, s.ThirdParty, s.CP, &infraapi.Backup{ObjectMeta: meta(s.CP.BackupName())}); err != nil {
			return reconcile.Failed(c5c3v1alpha1.ReasonBackupError, err)
		}
	}
	keys := &corev1.Secret{ObjectMeta: meta(s.CP.BackupKeysName())}
	stored := &batchv1.Job{ObjectMeta: keys.ObjectMeta}
	if err := errors.Join(apply.EnsureAbsent(ctx, s.Client, s.CP, stored), apply.EnsureAbsent(ctx, s.Client, s.CP, keys)); err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonBackupError, err)
	}
	return reconcile.Done(c5c3v1alpha1.ReasonBackupNotConfigured, "spec.backup is not set: no backups are taken")
}

// run is what the CronJob of the schedule reports.
type run struct {
	// last is when the last dump was completed, nil if none was.
	last *metav1.Time
	// trouble is what is wrong with the dumps since then.
	trouble job.LastRun
}

func runner(s *pass.Pass) *job.Runner {
	return &job.Runner{Client: s.Client, Events: s.APIReader, Scheme: s.Scheme, Now: s.Now}
}

// findRun reads the CronJob of the schedule. The container that stores a dump has the name of
// mariadb-operator.
func findRun(ctx context.Context, s *pass.Pass) (run, error) {
	key := pass.Key(s, s.CP.BackupName())
	cronJob, err := apply.Find(ctx, s.Client, key, &batchv1.CronJob{})
	if cronJob == nil || err != nil {
		return run{}, err
	}
	trouble, err := runner(s).LastRun(ctx, key, "mariadb-operator", controlplane.Labels(s.CP))
	return run{cronJob.Status.LastSuccessfulTime, trouble}, err
}

// storeKeys returns an error until the database has the current keys, and they are proven to
// fit since the last dump.
func storeKeys(ctx context.Context, s *pass.Pass, all services.List, last *metav1.Time) error {
	maria, err := pass.MariaDB(ctx, s, s.CP.Spec.Infrastructure.Database.ClusterRef.Name)
	if err != nil {
		return err
	}
	access, filledIn := serverOf(maria)
	if !filledIn {
		return reconcile.WaitError(c5c3v1alpha1.ReasonWaitingForInfrastructure, fmt.Sprintf(
			"MariaDB %s does not name its image and the Secret of its root yet", s.CP.Spec.Infrastructure.Database.ClusterRef.Name))
	}
	current, err := readBundle(ctx, s, all)
	if err != nil {
		return err
	}
	statements, err := keepStatements(ctx, s, current)
	if err != nil {
		return err
	}
	key := statements + " " + string(maria.UID)
	if last != nil {
		key += " " + last.UTC().Format(time.RFC3339)
	}
	state, err := runner(s).Run(ctx, s.CP, runStatements(s.CP, access, s.CP.BackupKeysName(), key))
	if err != nil || state.Complete {
		return err
	}
	message := "The keys are being stored with the databases, encrypted"
	if state.Waiting != "" {
		message += ": " + state.Waiting
	}
	return reconcile.WaitError(c5c3v1alpha1.ReasonStoringBackupKeys, message).Within(state.Again)
}

// readBundle returns the bundle of the current keys.
func readBundle(ctx context.Context, s *pass.Pass, all services.List) (bundle, error) {
	name := s.CP.KeystoneName()
	current := bundle{
		Cluster: s.Cluster.Name, Namespace: s.CP.Namespace, Name: s.CP.Name, Release: all.Identity().Installed(s.CP),
	}
	if current.Release == "" {
		return bundle{}, reconcile.WaitError(c5c3v1alpha1.ReasonWaitingForKeystone, fmt.Sprintf("Keystone %s is not installed yet", name))
	}
	var err error
	if current.TokenKeys, err = keysIn(ctx, s, controlplane.TokenKeysName(s.CP), c5c3v1alpha1.ReasonWaitingForKeystone); err != nil {
		return bundle{}, err
	}
	if current.CredentialKeys, err = keysIn(ctx, s, controlplane.CredentialKeysName(s.CP), c5c3v1alpha1.ReasonWaitingForKeystone); err != nil {
		return bundle{}, err
	}
	for _, secret := range all.InstalledIn(s.CP).KeySecrets(s.CP) {
		keys, err := keysIn(ctx, s, secret, c5c3v1alpha1.ReasonStoringBackupKeys)
		if err != nil {
			return bundle{}, err
		}
		if current.ServiceKeys == nil {
			current.ServiceKeys = map[string]keySet{}
		}
		current.ServiceKeys[secret] = keys
	}
	return current, nil
}

// keysIn returns the keys in a Secret. The reason is that of the error while there is none.
func keysIn(ctx context.Context, s *pass.Pass, name, reason string) (keySet, error) {
	secret := &corev1.Secret{}
	if err := s.Refs.Get(ctx, pass.Key(s, name), secret); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("reading Secret %s: %w", name, err)
	}
	if len(secret.Data) == 0 {
		return nil, reconcile.WaitError(reason, fmt.Sprintf(
			"Secret %s, whose keys belong to the backup, does not exist", name))
	}
	return keySetOf(secret.Data), nil
}

// readEncryptionKey reads the age key that the spec refers to.
func readEncryptionKey(ctx context.Context, s *pass.Pass) ([]byte, error) {
	ref := s.CP.Spec.Backup.EncryptionKeySecretRef
	secret, entry := &corev1.Secret{}, ref.KeyOr(defaultEncryptionKey)
	if err := s.Refs.Get(ctx, pass.Key(s, ref.Name), secret); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("reading Secret %s: %w", ref.Name, err)
	}
	if len(secret.Data[entry]) == 0 {
		return nil, reconcile.WaitError(c5c3v1alpha1.ReasonWaitingForEncryptionKey, fmt.Sprintf(
			"Secret %s does not exist or has no key %s: create it with what age-keygen prints", ref.Name, entry))
	}
	return secret.Data[entry], nil
}

// keepStatements keeps the Secret with the statements that store the bundle, and returns the
// digest of the bundle. Each encryption of the same keys differs, so it is not repeated.
func keepStatements(ctx context.Context, s *pass.Pass, current bundle) (digest string, err error) {
	key, err := readEncryptionKey(ctx, s)
	if err != nil {
		return "", err
	}
	who, err := readers(key)
	if err != nil {
		ref := s.CP.Spec.Backup.EncryptionKeySecretRef
		return "", reconcile.TerminalError(c5c3v1alpha1.ReasonEncryptionKeyInvalid, fmt.Errorf(
			"the key %s of Secret %s cannot encrypt a backup: %w; store what age-keygen prints", ref.KeyOr(defaultEncryptionKey), ref.Name, err))
	}
	if digest, err = current.digest(who); err != nil {
		return "", err
	}
	live, err := s.Owned.Find(ctx, pass.Key(s, s.CP.BackupKeysName()))
	if err != nil || live != nil && live.Annotations[annotationDigest] == digest && secrets.IsWritten(s.CP, live) {
		return digest, err
	}
	sealed, err := current.seal(who)
	if err != nil {
		return "", err
	}
	desired := &corev1.Secret{
		ObjectMeta: controlplane.ChildMeta(s.CP, s.CP.BackupKeysName()),
		Data: map[string][]byte{
			statementsKey: []byte(storing(sealed, s.CP.Spec.Infrastructure.Database.Database, current.keyHashes())),
		},
	}
	desired.Annotations = map[string]string{annotationDigest: digest}
	secrets.Sign(s.CP, desired)
	return digest, s.Owned.EnsureData(ctx, s.CP, desired)
}

// keepSchedule keeps the Backup of mariadb-operator. Its storage cannot be changed, so a Backup
// with another one is replaced.
func keepSchedule(ctx context.Context, s *pass.Pass, all services.List) error {
	if !s.Kinds.Served(infraapi.BackupKind) {
		return reconcile.WaitError(c5c3v1alpha1.ReasonBackupError,
			"The cluster has no kind Backup of mariadb-operator: install its definitions")
	}
	desired := schedule(s.Cluster, s.CP, all.Databases(s.CP))
	live, err := apply.Find(ctx, s.ThirdParty, client.ObjectKeyFromObject(desired), &infraapi.Backup{})
	if err != nil {
		return err
	}
	if live != nil && replaces(live.Spec, desired.Spec) {
		if err := apply.EnsureAbsent(ctx, s.ThirdParty, s.CP, desired); err != nil {
			return err
		}
		return reconcile.WaitError(c5c3v1alpha1.ReasonReplacingBackup,
			"The schedule is being replaced, because its storage or retention has changed")
	}
	if err := apply.EnsureObject(ctx, s.ThirdParty, s.Scheme, s.CP, desired, pass.FieldManager); err != nil {
		return err
	}
	if err := pass.Wake(ctx, s, desired); err != nil {
		return err
	}
	status := &c5c3v1alpha1.BackupStatus{}
	if s.CP.Status.Backup != nil {
		status.LastSuccessTime = s.CP.Status.Backup.LastSuccessTime
	}
	if !desired.CreationTimestamp.IsZero() {
		status.ScheduledSince = &desired.CreationTimestamp
	}
	s.CP.Status.Backup = status
	return nil
}

func replaces(live, desired infraapi.BackupSpec) bool {
	return live.MaxRetention != desired.MaxRetention || live.MariaDBRef != desired.MariaDBRef ||
		!equality.Semantic.DeepEqual(live.Storage, desired.Storage)
}

// report returns the state of the backups.
func (r run) report(cp *c5c3v1alpha1.ControlPlane) reconcile.Outcome {
	last := "there is no good backup yet"
	if at := cp.Status.Backup.LastSuccessTime; at != nil {
		last = "the last good backup was completed at " + at.UTC().Format(time.RFC3339)
	}
	switch {
	case r.trouble.Job != "":
		return reconcile.Degraded(c5c3v1alpha1.ReasonBackupFailed, fmt.Sprintf(
			"Job %s takes no backup: %s; its log says why: kubectl -n %s logs job/%s --all-containers; %s",
			r.trouble.Job, r.trouble.Text, cp.Namespace, r.trouble.Job, last)).After(r.trouble.Again)
	case cp.Status.Backup.LastSuccessTime == nil:
		return reconcile.Done(c5c3v1alpha1.ReasonBackupScheduled, "Backups are scheduled; "+last).After(r.trouble.Again)
	}
	return reconcile.Done(c5c3v1alpha1.ReasonBackedUp, "Backups are scheduled; "+last).After(r.trouble.Again)
}
