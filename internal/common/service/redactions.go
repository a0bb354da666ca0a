package service

import "slices"

// Redactions are values that the quoted output of a tool must not show.
type Redactions struct{ values []string }

// Hide adds values. Empty ones are left out.
func (r *Redactions) Hide(values ...string) {
	r.values = append(r.values, slices.DeleteFunc(values, func(value string) bool { return value == "" })...)
}

// Hidden returns the values.
func (r *Redactions) Hidden() []string { return r.values }
