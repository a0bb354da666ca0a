// Package watches maps events to the resources that a controller has to reconcile,
// and limits how soon it retries: the set-up of watches that all controllers of this
// repository share.
package watches
