package types

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// UpgradePhase is the step of a database upgrade from one OpenStack release to
// another.
//
// +kubebuilder:validation:Enum=Expanding;Migrating;RollingUpdate;Contracting;Stopping;Syncing
type UpgradePhase string

const (
	// UpgradePhaseExpanding adds tables and columns while the old release serves.
	UpgradePhaseExpanding UpgradePhase = "Expanding"
	// UpgradePhaseMigrating moves data to the expanded schema.
	UpgradePhaseMigrating UpgradePhase = "Migrating"
	// UpgradePhaseRollingUpdate replaces the pods of the old release.
	UpgradePhaseRollingUpdate UpgradePhase = "RollingUpdate"
	// UpgradePhaseContracting drops what only the old release used. From then on the upgrade cannot be rolled back.
	UpgradePhaseContracting UpgradePhase = "Contracting"
	// UpgradePhaseStopping stops the pods of the old release, for an offline upgrade.
	UpgradePhaseStopping UpgradePhase = "Stopping"
	// UpgradePhaseSyncing migrates the database while no pod runs. From then on the upgrade cannot be rolled back.
	UpgradePhaseSyncing UpgradePhase = "Syncing"
)

// IsOffline reports whether the API is stopped in the phase.
func (p UpgradePhase) IsOffline() bool { return p == UpgradePhaseStopping || p == UpgradePhaseSyncing }

// IsFinal reports whether the upgrade can no longer be rolled back in the phase.
func (p UpgradePhase) IsFinal() bool { return p == UpgradePhaseContracting || p == UpgradePhaseSyncing }

// ServiceStatus is the state of an API service, as its operator last observed it.
type ServiceStatus struct {
	// conditions report what works and what does not. Ready summarises the others; the
	// message of a condition that is False says what to do.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that the operator last
	// reconciled; -1 before the first reconciliation.
	//
	// +optional
	// +kubebuilder:validation:Minimum=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// endpoint is the URL of the API. Example:
	// "https://api.example.com/v3".
	//
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

	// installedRelease is the image tag whose database schema is installed, or, of a service
	// without a database, that all pods run.
	// Example: "2025.1".
	//
	// +optional
	InstalledRelease string `json:"installedRelease,omitempty"`

	// targetRelease is the image tag that the current upgrade installs. It is empty when no
	// upgrade is in progress.
	//
	// +optional
	TargetRelease string `json:"targetRelease,omitempty"`

	// upgradePhase is the phase of the upgrade in progress. It is empty when no upgrade is in progress.
	//
	// +optional
	UpgradePhase UpgradePhase `json:"upgradePhase,omitempty"`

	// expandedRelease is the image tag of a release that may already have added its tables
	// and columns to the database, because an upgrade to it began. It stays set when the
	// upgrade is aborted, because these additions stay. It is empty once an upgrade has
	// completed.
	//
	// +optional
	ExpandedRelease string `json:"expandedRelease,omitempty"`

	// images lists what the operator found in the image of the spec and in the previous
	// image.
	//
	// +optional
	// +listType=map
	// +listMapKey=reference
	// +kubebuilder:validation:MaxItems=2
	Images []ImageStatus `json:"images,omitempty"`

	// downSince is when an offline upgrade stopped the API pods. It is empty once
	// they are available again.
	//
	// +optional
	DownSince *metav1.Time `json:"downSince,omitempty"`

	// keysHash is a hash of the keys that are known to read what the database of the service
	// has encrypted. Other keys are tested before pods get them, and before they replace the
	// copy in the secret store.
	//
	// +optional
	KeysHash string `json:"keysHash,omitempty"`

	// overriddenOptions lists the options of spec.globalExtraConfig that have no effect
	// because the service has other values for them.
	//
	// +optional
	// +listType=map
	// +listMapKey=section
	// +listMapKey=option
	OverriddenOptions []OverriddenOption `json:"overriddenOptions,omitempty"`
}

// OverriddenOption is an option of all services that has no effect on one of them.
type OverriddenOption struct {
	// section is the section of the option.
	//
	// +required
	Section string `json:"section"`

	// option is the name of the option.
	//
	// +required
	Option string `json:"option"`

	// by is the field of the service's resource that sets the option, or "operator" if its
	// operator sets it. Example: "spec.extraConfig".
	//
	// +required
	By string `json:"by"`
}

// ImageStatus describes the content of an image.
type ImageStatus struct {
	// reference is the image as the pods refer to it, with repository and tag.
	Reference string `json:"reference"`

	// version is the version of the service in the image. It is empty if the image does not
	// report it. Example: "27.0.0".
	//
	// +optional
	Version string `json:"version,omitempty"`

	// script is the path of the WSGI script in the image. The API pods run it if
	// there is one.
	//
	// +optional
	Script string `json:"script,omitempty"`

	// module is the WSGI application that the API pods run if the image has no script.
	// Example: "nova.wsgi.osapi_compute:application".
	//
	// +optional
	Module string `json:"module,omitempty"`
}
