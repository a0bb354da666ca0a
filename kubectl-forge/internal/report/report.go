// Package report turns the content of a namespace into what a user has to know: what
// a ControlPlane or a service waits for, where to look and which command to run next. It
// makes no request.
package report

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
)

// Report describes a ControlPlane or a service.
type Report struct {
	Target inventory.Ref `json:"target"`
	Ready  bool          `json:"ready"`
	// Since is when it last became ready or unready.
	Since *metav1.Time `json:"since,omitempty"`
	// Release is the installed one, and TargetRelease and Phase are set during
	// an upgrade.
	Release       string `json:"release,omitempty"`
	TargetRelease string `json:"targetRelease,omitempty"`
	Phase         string `json:"phase,omitempty"`
	Endpoint      string `json:"endpoint,omitempty"`

	// Causes are the root causes that prevent it from being ready.
	Causes []Cause `json:"causes,omitempty"`
	// Warnings do not prevent it from being ready.
	Warnings []Cause `json:"warnings,omitempty"`
	// Overridden are global options of a ControlPlane that have no effect on a service.
	Overridden []string `json:"overridden,omitempty"`
	// LookAt are the objects that explain the causes.
	LookAt []Exhibit `json:"lookAt,omitempty"`
	// Next are commands to run, the most useful first.
	Next []string `json:"next,omitempty"`

	Conditions []metav1.Condition `json:"conditions"`
	Tree       Node               `json:"tree"`
	// Gaps list what the user may not read.
	Gaps []string `json:"gaps,omitempty"`
}
