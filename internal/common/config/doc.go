// Package config keeps the files of a service's configuration in immutable ConfigMaps that
// are named after their content, and sets the constants of those that are Python.
package config
