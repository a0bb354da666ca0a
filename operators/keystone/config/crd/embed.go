// Package crd holds the definitions of the operator's kinds.
package crd

import "embed"

// Files are the definitions, as YAML.
//
//go:embed bases/*.yaml
var Files embed.FS
