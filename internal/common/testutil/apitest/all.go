package apitest

import "testing"

// Prove runs all checks of the kinds that need no API server. pattern matches the
// Go files with the rules. unbreakable lists the messages that no object from the
// API can cause.
func (kinds Kinds) Prove(t *testing.T, pattern string, unbreakable ...string) {
	for _, proof := range []struct {
		name string
		run  func(Subject, *testing.T)
	}{
		{"each rule names its field and what to do", Subject.EachRuleNamesItsField},
		{"a rule is broken alone", Subject.EachRuleIsBrokenAlone},
		{"what works is accepted", Subject.WhatWorksIsAccepted},
		{"what only an older schema let in is refused", Subject.UnwritableIsRefused},
		{"every rule has a violation", Subject.EveryRuleHasAViolation},
		{"every violation belongs to a rule", Subject.EveryViolationBelongsToARule},
		{"every rule of the schema has a violation", Subject.EveryRuleOfTheSchemaHasAViolation},
		{"what the schema refuses, the operator refuses", Subject.WhatTheSchemaRefusesTheOperatorRefuses},
		{"immutable fields keep their value", Subject.ImmutableFieldsKeepTheirValue},
		{"mutable fields may change", Subject.MutableFieldsMayChange},
		{"every default of the schema is in the table", Subject.EveryDefaultIsInTheTable},
		{"the operator fills in every default of the table", Subject.TheOperatorFillsInEveryDefault},
		{"defaulting twice is defaulting once", Subject.DefaultingTwiceIsDefaultingOnce},
		{"validation takes whatever comes and names a field", Subject.ValidationNamesAField},
		{"a valid object stays valid with its defaults", Subject.AValidObjectStaysValid},
	} {
		t.Run(proof.name, func(t *testing.T) { kinds.Each(t, proof.run) })
	}
	t.Run("every refusal in the source has a violation", func(t *testing.T) {
		kinds.EveryRefusalInTheSourceHasAViolation(t, pattern, unbreakable...)
	})
}
