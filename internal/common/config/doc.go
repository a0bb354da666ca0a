// Package config renders the configuration files of an OpenStack service and stores
// them in immutable ConfigMaps.
//
// The renderers are pure: equal input yields equal bytes regardless of map order,
// so that a content hash can name the result. They reject input that a parser would
// understand differently from the author of the resource: a line break in a value
// could add options or whole sections that have not been reviewed.
package config
