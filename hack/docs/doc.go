// Package docs tests the documentation against the code: manifests are applied to an
// API server, and the targets, files, resources, flags, values, fields, tests and suites
// that the pages name must exist. Each alert of the charts must have a runbook.
package docs
