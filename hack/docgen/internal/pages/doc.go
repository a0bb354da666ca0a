// Package pages generates the reference pages of the documentation from their
// sources: the API of a kind from its CustomResourceDefinition, flags, metrics and
// steps from their definitions, and the vocabulary of conditions and events from the
// constants in the code.
package pages
