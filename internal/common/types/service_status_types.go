package types

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// UpgradePhase is the step of a database upgrade from one OpenStack release to
// the next.
//
// +kubebuilder:validation:Enum=Expanding;Migrating;RollingUpdate;Contracting
type UpgradePhase string

const (
	// UpgradePhaseExpanding adds tables and columns; the old release serves.
	UpgradePhaseExpanding UpgradePhase = "Expanding"
	// UpgradePhaseMigrating moves data to the expanded schema.
	UpgradePhaseMigrating UpgradePhase = "Migrating"
	// UpgradePhaseRollingUpdate replaces the pods of the old release.
	UpgradePhaseRollingUpdate UpgradePhase = "RollingUpdate"
	// UpgradePhaseContracting drops what only the old release used. From here
	// on there is no way back.
	UpgradePhaseContracting UpgradePhase = "Contracting"
)

// ServiceStatus is what the operator of an API service last saw of an instance.
type ServiceStatus struct {
	// conditions tell what works and what does not. Ready sums the others up;
	// a condition that is False says in its message what to do.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that the operator last
	// reconciled; -1 before it has looked at the resource.
	//
	// +optional
	// +kubebuilder:validation:Minimum=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// endpoint is the URL of the API. Example:
	// "http://keystone.openstack.svc.cluster.local:5000/v3".
	//
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

	// installedRelease is the image tag whose database schema is installed.
	// Example: "2025.2".
	//
	// +optional
	InstalledRelease string `json:"installedRelease,omitempty"`

	// targetRelease is the image tag an upgrade leads to. It is empty when no
	// upgrade runs.
	//
	// +optional
	TargetRelease string `json:"targetRelease,omitempty"`

	// upgradePhase is the step a running upgrade is in. It is empty when no
	// upgrade runs.
	//
	// +optional
	UpgradePhase UpgradePhase `json:"upgradePhase,omitempty"`

	// expandedRelease is the image tag of a release whose tables and columns the
	// database may already hold, because an upgrade to it began. It outlives an
	// abort, since nothing is taken back, and is empty once an upgrade has
	// completed.
	//
	// +optional
	ExpandedRelease string `json:"expandedRelease,omitempty"`
}
