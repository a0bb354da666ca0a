// Package pages writes the reference pages of the documentation from what they
// describe: the API of a kind from its CustomResourceDefinition, flags, metrics and
// steps from their definitions, and the vocabulary of conditions and events from the
// constants in the code.
package pages
