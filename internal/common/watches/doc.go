// Package watches maps events to the resources that a controller has to reconcile,
// and limits its retries. All controllers of this repository set up their watches
// with it.
package watches
