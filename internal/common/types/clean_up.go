package types

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/rules"
)

// CleanUpSpec sets when what was deleted is removed from the database.
type CleanUpSpec struct {
	// schedule is when it is removed, in cron format with five fields. The default is
	// "30 3 * * *", every night.
	//
	// +optional
	// +default="30 3 * * *"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Schedule string `json:"schedule,omitempty"`

	// suspend pauses the removal. The default is false.
	//
	// +optional
	// +default=false
	Suspend bool `json:"suspend,omitempty"`

	// minDays is how many days ago it was deleted at least. The default is 90.
	//
	// +optional
	// +default=90
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=36500
	MinDays int32 `json:"minDays,omitempty"`
}

// The defaults of a CleanUpSpec, and its longest time.
const (
	DefaultCleanUpSchedule       = "30 3 * * *"
	DefaultCleanUpMinDays  int32 = 90

	maxCleanUpMinDays int32 = 36500
)

// CleanUpDescriber is a resource whose service marks what users delete, and keeps it in the
// database until it is removed on a schedule.
//
// +kubebuilder:object:generate=false
type CleanUpDescriber interface {
	// CleanUpSpec returns a pointer to the part of the spec about that.
	CleanUpSpec() **CleanUpSpec
}

// CleanUpOf returns the part of a resource's spec about the removal of what was deleted, nil if it
// has none.
func CleanUpOf(resource any) *CleanUpSpec {
	if describer, has := resource.(CleanUpDescriber); has {
		return *describer.CleanUpSpec()
	}
	return nil
}

// SetCleanUpDefaults sets the defaults of the schema, for objects that no API server has
// defaulted. It is idempotent.
func SetCleanUpDefaults(spec **CleanUpSpec) {
	if *spec == nil {
		*spec = &CleanUpSpec{}
	}
	(*spec).Schedule = cmp.Or((*spec).Schedule, DefaultCleanUpSchedule)
	(*spec).MinDays = cmp.Or((*spec).MinDays, DefaultCleanUpMinDays)
}

// CleanUpRules are those about the removal of what was deleted.
func CleanUpRules[T CleanUpDescriber]() rules.Table[T] {
	return rules.Table[T]{
		{Path: "spec.cleanUp.schedule", Check: rules.Schedule(func(r T) *string {
			if spec := CleanUpOf(r); spec != nil {
				return &spec.Schedule
			}
			return nil
		})},
		{Path: "spec.cleanUp.minDays", Check: func(r T, at *field.Path) field.ErrorList {
			spec := CleanUpOf(r)
			if spec == nil || spec.MinDays >= 1 && spec.MinDays <= maxCleanUpMinDays {
				return nil
			}
			return field.ErrorList{field.Invalid(at, spec.MinDays, fmt.Sprintf("must be between 1 and %d days", maxCleanUpMinDays))}
		}},
	}
}
