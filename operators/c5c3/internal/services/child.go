package services

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// child is the resource of a service, with the status reported by its operator.
type child interface {
	client.Object
	commonv1.Describer
	GetConditions() []metav1.Condition
	ServiceStatus() *commonv1.ServiceStatus
}

// isReady reports whether the service is ready with its current spec.
func isReady(child child) bool {
	ready := meta.FindStatusCondition(child.GetConditions(), vocabulary.ConditionReady)
	return ready != nil && ready.Status == metav1.ConditionTrue && ready.ObservedGeneration == child.GetGeneration()
}

// refusesRollBack reports whether an upgrade was reverted too late: the schema no longer
// has what the installed release uses.
func refusesRollBack(child child) bool {
	status := child.ServiceStatus()
	if status.TargetRelease == "" || child.ServiceSpec().Image.Tag != status.InstalledRelease {
		return false
	}
	database := meta.FindStatusCondition(child.GetConditions(), vocabulary.ConditionDatabaseReady)
	return status.UpgradePhase.IsFinal() ||
		database != nil && database.Reason == vocabulary.ReasonUpgradeAbortRefused && database.ObservedGeneration == child.GetGeneration()
}

// asksForOffline reports whether the service's operator waits for the request of an offline
// upgrade.
func asksForOffline(child child) bool {
	database := unfitDatabase(child)
	return database != nil && database.Reason == vocabulary.ReasonUpgradePathInvalid
}

// asksForTag reports whether the image tag is what the service's operator wants changed, or what
// aborts the upgrade that it is working on.
func asksForTag(child child) bool {
	database, status := unfitDatabase(child), child.ServiceStatus()
	if database == nil {
		return false
	}
	switch database.Reason {
	case vocabulary.ReasonVersionParseError, vocabulary.ReasonDowngradeNotSupported, vocabulary.ReasonDatabaseNewerThanImage,
		vocabulary.ReasonUpgradeTargetChanged, vocabulary.ReasonUpgradeAbortRefused, vocabulary.ReasonReleaseDiffers:
		return true
	case vocabulary.ReasonExpandFailed, vocabulary.ReasonMigrateFailed, vocabulary.ReasonUpgradeStopping, vocabulary.ReasonUpgradeHeld:
		return status.TargetRelease != "" && !status.UpgradePhase.IsFinal()
	case vocabulary.ReasonDBSyncFailed:
		// The image is tried before an offline upgrade begins.
		return status.TargetRelease == "" && status.InstalledRelease != "" && status.InstalledRelease != child.ServiceSpec().Image.Tag
	}
	return false
}

// unfitDatabase returns the condition about the database of a service while that does not fit,
// nil otherwise.
func unfitDatabase(child child) *metav1.Condition {
	database := meta.FindStatusCondition(child.GetConditions(), vocabulary.ConditionDatabaseReady)
	if database == nil || database.Status == metav1.ConditionTrue {
		return nil
	}
	return database
}
