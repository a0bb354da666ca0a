// Package config keeps the files of a service's configuration in immutable ConfigMaps that
// are named after their content, and sets constants in the Python files among them.
package config
