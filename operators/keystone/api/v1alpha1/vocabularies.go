package v1alpha1

// Vocabulary is what one kind says about itself.
//
// +kubebuilder:object:generate=false
type Vocabulary struct {
	// Kind is the kind's name.
	Kind string
	// Conditions are its conditions, those of the function [Conditions].
	Conditions []ConditionDoc
	// Events are its events.
	Events []EventDoc
}

// Vocabularies returns what each kind of this operator says about itself.
func Vocabularies() []Vocabulary {
	return []Vocabulary{{Kind: "Keystone", Conditions: Conditions(), Events: Events()}}
}
