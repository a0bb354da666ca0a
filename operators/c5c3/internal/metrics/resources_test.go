package metrics

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

func TestTheTimesOfBackupsAreReadAtTheScrape(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	cp := &c5c3v1alpha1.ControlPlane{}
	read := func() [][]reconcile.Sample {
		return [][]reconcile.Sample{lastBackup.Read(cp, now), nextBackup.Read(cp, now)}
	}
	if diff := cmp.Diff([][]reconcile.Sample{nil, nil}, read()); diff != "" {
		t.Errorf("without backups (-want +got):\n%s", diff)
	}
	cp.Spec.Backup = &c5c3v1alpha1.BackupSpec{Schedule: "0 1 * * *"}
	cp.Status.Backup = &c5c3v1alpha1.BackupStatus{ScheduledSince: ptr.To(metav1.NewTime(now))}
	first := now.Add(13 * time.Hour)
	if diff := cmp.Diff([][]reconcile.Sample{nil, {{Value: float64(first.Unix())}}}, read()); diff != "" {
		t.Errorf("before the first backup (-want +got):\n%s", diff)
	}
	cp.Status.Backup.LastSuccessTime = ptr.To(metav1.NewTime(first.Add(time.Minute)))
	want := [][]reconcile.Sample{{{Value: float64(first.Unix() + 60)}}, {{Value: float64(first.Add(24 * time.Hour).Unix())}}}
	if diff := cmp.Diff(want, read()); diff != "" {
		t.Errorf("after the first backup (-want +got):\n%s", diff)
	}
	cp.Spec.Backup.Suspend = true
	if got := nextBackup.Read(cp, now); got != nil {
		t.Errorf("a suspended schedule calls for a backup: %v", got)
	}
}

func TestTheAgeOfACredentialAndTheTimesOfItsRotationAreReadAtTheScrape(t *testing.T) {
	now := time.Unix(100_000, 0)
	cp, rotation := &c5c3v1alpha1.ControlPlane{}, &c5c3v1alpha1.CredentialRotation{}
	cp.Spec.OpenStackRelease = "2025.2"
	read := func() map[string][]reconcile.Sample {
		return map[string][]reconcile.Sample{
			"age": credentialAge.Read(cp, now), "last": lastRotation.Read(rotation, now), "next": nextRotation.Read(rotation, now),
			"update": updateInfo.Read(cp, now),
		}
	}
	want := map[string][]reconcile.Sample{
		"age": nil, "last": nil, "next": nil, "update": {{Labels: []string{"2025.2", "Idle"}, Value: 1}},
	}
	if diff := cmp.Diff(want, read()); diff != "" {
		t.Errorf("before the first credential (-want +got):\n%s", diff)
	}

	at := func(seconds int64) *metav1.Time { return ptr.To(metav1.Unix(seconds, 0)) }
	cp.Status.AdminApplicationCredential = &c5c3v1alpha1.AdminApplicationCredentialStatus{}
	cp.Status.UpdatePhase = c5c3v1alpha1.UpdatePhaseVerifying
	if got := credentialAge.Read(cp, now); got != nil {
		t.Errorf("a credential that is not in use yet has the age %v", got)
	}
	cp.Status.AdminApplicationCredential.LastRotation = at(99_000)
	rotation.Status.LastRotation, rotation.Status.NextRotation = at(98_000), at(200_000)
	want = map[string][]reconcile.Sample{
		"age": {{Value: 1000}}, "last": {{Value: 98_000}}, "next": {{Value: 200_000}},
		"update": {{Labels: []string{"2025.2", "Verifying"}, Value: 1}},
	}
	if diff := cmp.Diff(want, read()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
