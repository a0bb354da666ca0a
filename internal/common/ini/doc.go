// Package ini reads and renders configuration files in the format of oslo.config.
//
// It is pure: equal input yields equal bytes regardless of map order, so that a content
// hash can name the result. It rejects input that a parser would understand differently
// from the author of the resource: a line break in a value could add options or whole
// sections that have not been reviewed.
package ini
