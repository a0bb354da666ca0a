//go:build integration

package cli

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/kubectl-forge/internal/testutil"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// backedUp is a ControlPlane with backups.
func backedUp(t *testing.T, namespace string) *c5c3v1alpha1.ControlPlane {
	t.Helper()
	cp := testutil.ControlPlane()
	cp.Spec.Backup = &c5c3v1alpha1.BackupSpec{
		Schedule: "0 1 * * *", EncryptionKeySecretRef: commonv1.SecretRefSpec{Name: "backup-key"},
		Storage: c5c3v1alpha1.BackupStorageSpec{PersistentVolumeClaim: &c5c3v1alpha1.BackupClaimSpec{ClaimName: "backups"}},
	}
	return store(t, namespace, cp)
}

func backupCronJob(t *testing.T, cp *c5c3v1alpha1.ControlPlane) {
	t.Helper()
	cronJob := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: cp.BackupName()}}
	cronJob.Spec.Schedule = "0 1 * * *"
	cronJob.Spec.JobTemplate.Spec.Template.Spec = corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "mariadb-operator", Image: "mariadb-operator"}},
	}
	store(t, cp.Namespace, cronJob)
}

func TestANamespaceUserTakesABackupAndSeesItProven(t *testing.T) {
	u := as(t, "operator")
	cp := backedUp(t, u.namespace)
	backupCronJob(t, cp)
	end := u.start(t, "backup", "controlplane/"+cp.Name)
	run := startedJob(t, u.namespace)
	finish(t, run, batchv1.JobComplete)
	change(t, cp, func(cp *c5c3v1alpha1.ControlPlane) {
		cp.Status.Backup = &c5c3v1alpha1.BackupStatus{LastSuccessTime: run.Status.CompletionTime}
	})
	end().expect(t, CodeOK, "started Job "+run.Name, "the keys in the backup fit its databases")
}

func TestAFailedBackupExitsWithNotReady(t *testing.T) {
	u := as(t, "operator")
	cp := backedUp(t, u.namespace)
	backupCronJob(t, cp)
	end := u.start(t, "backup")
	finish(t, startedJob(t, u.namespace), batchv1.JobFailed)
	end().expect(t, CodeNotReady, "failed", "logs job/")
}

func TestABackupThatIsNotSetUpIsExplained(t *testing.T) {
	u := as(t, "operator")
	store(t, u.namespace, testutil.ControlPlane())
	u.run(t, "backup").expect(t, CodeNotReady, "takes no backups: set spec.backup")
}

func TestABackupBeforeItsScheduleExistsIsExplained(t *testing.T) {
	u := as(t, "operator")
	backedUp(t, u.namespace)
	u.run(t, "backup").expect(t, CodeNotReady, "there is no CronJob controlplane-backup")
}
