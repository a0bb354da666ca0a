// Package config renders the configuration files of an OpenStack service and
// keeps them in immutable ConfigMaps.
//
// The renderers are pure: the same input gives the same bytes, whatever the
// order of the maps, so that a content hash can name the result. They refuse
// input that a reader of the file would understand differently from the author
// of the resource, because a line break in a value is a way to add options or
// whole sections that nobody has reviewed.
package config
