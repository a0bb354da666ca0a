package metrics

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/metric"
	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// What is read of each resource at a scrape, in addition to its conditions.
var (
	OfControlPlane = []reconcile.Gauge[*c5c3v1alpha1.ControlPlane]{updateInfo, credentialAge, lastBackup, nextBackup}
	OfRotation     = []reconcile.Gauge[*c5c3v1alpha1.CredentialRotation]{lastRotation, nextRotation}
)

var updateInfo = reconcile.Gauge[*c5c3v1alpha1.ControlPlane]{
	Definition: UpdateInfo,
	Read: func(cp *c5c3v1alpha1.ControlPlane, _ time.Time) []reconcile.Sample {
		phase := cmp.Or(cp.Status.UpdatePhase, c5c3v1alpha1.UpdatePhaseIdle)
		return []reconcile.Sample{{Labels: []string{cp.Spec.OpenStackRelease, string(phase)}, Value: 1}}
	},
}

var credentialAge = reconcile.Gauge[*c5c3v1alpha1.ControlPlane]{
	Definition: CredentialAge,
	Read: func(cp *c5c3v1alpha1.ControlPlane, now time.Time) []reconcile.Sample {
		if cp.Status.AdminApplicationCredential == nil {
			return nil
		}
		return sampleOf(cp.Status.AdminApplicationCredential.LastRotation, now, metric.Age)
	},
}

var lastBackup = reconcile.Gauge[*c5c3v1alpha1.ControlPlane]{
	Definition: BackupLast,
	Read: func(cp *c5c3v1alpha1.ControlPlane, now time.Time) []reconcile.Sample {
		if cp.Status.Backup == nil {
			return nil
		}
		return sampleOf(cp.Status.Backup.LastSuccessTime, now, metric.Timestamp)
	},
}

var nextBackup = reconcile.Gauge[*c5c3v1alpha1.ControlPlane]{
	Definition: BackupDue,
	Read: func(cp *c5c3v1alpha1.ControlPlane, now time.Time) []reconcile.Sample {
		due, ok := cp.BackupDue()
		if !ok {
			return nil
		}
		return sampleOf(&metav1.Time{Time: due}, now, metric.Timestamp)
	},
}

var lastRotation = reconcile.Gauge[*c5c3v1alpha1.CredentialRotation]{
	Definition: RotationLast,
	Read: func(r *c5c3v1alpha1.CredentialRotation, now time.Time) []reconcile.Sample {
		return sampleOf(r.Status.LastRotation, now, metric.Timestamp)
	},
}

var nextRotation = reconcile.Gauge[*c5c3v1alpha1.CredentialRotation]{
	Definition: RotationDue,
	Read: func(r *c5c3v1alpha1.CredentialRotation, now time.Time) []reconcile.Sample {
		return sampleOf(r.Status.NextRotation, now, metric.Timestamp)
	},
}

// sampleOf returns one sample for a time, none if the status has no such time.
func sampleOf(at *metav1.Time, now time.Time, value func(at, now time.Time) float64) []reconcile.Sample {
	if at == nil {
		return nil
	}
	return []reconcile.Sample{{Value: value(at.Time, now)}}
}
