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
	// LookAt are the pods and Jobs that explain the causes.
	LookAt []Exhibit `json:"lookAt,omitempty"`
	// Next are commands to run, the most useful first.
	Next []string `json:"next,omitempty"`

	Conditions []metav1.Condition `json:"conditions"`
	Tree       Node               `json:"tree"`
	// Gaps list what the user may not read.
	Gaps []string `json:"gaps,omitempty"`
}

// Cause is a condition that prevents something from being ready.
type Cause struct {
	// Object is the owner of the condition: the target or a part of it.
	Object    string       `json:"object"`
	Condition string       `json:"condition"`
	Reason    string       `json:"reason"`
	Message   string       `json:"message,omitempty"`
	Since     *metav1.Time `json:"since,omitempty"`
	// Stalled is set if waiting does not help.
	Stalled bool `json:"stalled,omitempty"`

	// owner is the ControlPlane or the service whose advice applies.
	owner inventory.Ref
}

// Exhibit is a pod, a Job or a Deployment that explains a cause.
type Exhibit struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Problem says what is wrong with it.
	Problem string `json:"problem"`
	// Log is the last relevant part of its log, when there is one.
	Log string `json:"log,omitempty"`

	// Container is the one with the most relevant log, "" if there is none.
	Container string `json:"container,omitempty"`
	// Previous is set when the log is that of the instance before the last restart.
	Previous bool `json:"previous,omitempty"`
}

// Kinds of exhibits and nodes.
const (
	kindPod        = "Pod"
	kindJob        = "Job"
	kindDeployment = "Deployment"
)

// State is the state of an object.
type State string

// The states.
const (
	StateOK      State = "OK"
	StateWaiting State = "Waiting"
	StateFailed  State = "Failed"
	// StateUnknown is that of an object that its operator has not observed yet.
	StateUnknown State = "Unknown"
)

// Node is an object in the tree of a target's parts.
type Node struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	State State  `json:"state"`
	// Text describes the state in a few words.
	Text string `json:"text,omitempty"`
	// Since is when the object entered its state, or when it was created.
	Since    *metav1.Time `json:"since,omitempty"`
	Children []Node       `json:"children,omitempty"`
}

// builder reads the inventory.
type builder struct{ *inventory.Inventory }
