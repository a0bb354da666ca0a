// Package docs reads the documentation for its tests, which hold what the pages say to
// the code: manifests are applied to an API server, and the targets, files, resources,
// flags, values and fields that the pages name have to exist.
package docs
