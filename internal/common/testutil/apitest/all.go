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
		{"every violation breaks exactly one rule", Subject.EachRuleIsBrokenAlone},
		{"valid specs are accepted", Subject.WhatWorksIsAccepted},
		{"stored values that the schema forbids are refused", Subject.UnwritableIsRefused},
		{"every rule has a violation", Subject.EveryRuleHasAViolation},
		{"every violation belongs to a rule", Subject.EveryViolationBelongsToARule},
		{"every rule of the schema has a violation", Subject.EveryRuleOfTheSchemaHasAViolation},
		{"every schema violation is also refused by the operator", Subject.WhatTheSchemaRefusesTheOperatorRefuses},
		{"immutable fields keep their value", Subject.ImmutableFieldsKeepTheirValue},
		{"mutable fields may change", Subject.MutableFieldsMayChange},
		{"every default of the schema is in the table", Subject.EveryDefaultIsInTheTable},
		{"the operator fills in every default of the table", Subject.TheOperatorFillsInEveryDefault},
		{"defaulting is idempotent", Subject.DefaultingTwiceIsDefaultingOnce},
		{"validation never panics and names a field", Subject.ValidationNamesAField},
		{"a valid object stays valid with its defaults", Subject.AValidObjectStaysValid},
	} {
		t.Run(proof.name, func(t *testing.T) { kinds.Each(t, proof.run) })
	}
	t.Run("every refusal in the source has a violation", func(t *testing.T) {
		kinds.EveryRefusalInTheSourceHasAViolation(t, pattern, unbreakable...)
	})
}
