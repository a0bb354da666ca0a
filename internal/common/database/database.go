// Package database manages the database of a service instance: the database itself and
// its users, the connection of the pods, and its TLS certificates.
package database

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/service"
)

// Database declares the database of a service.
type Database struct {
	// Section is the section of the database options in the names of environment
	// variables, such as "DATABASE" for OS_DATABASE__CONNECTION.
	Section string
	// Key returns the key for hashes of the connection, "" while there is none. The key
	// must survive the loss of the connection Secret and live as long as the database.
	// While there is no key, or if Key is nil, the UID of the Secret with the credentials
	// is used, and pods are assumed to have the connection that was written last.
	Key func(ctx context.Context, p *service.Pass) (types.UID, error)
}

// Variable is the environment variable with the URL of the database.
func (d Database) Variable() string { return d.option("CONNECTION") }

// option returns the environment variable from which oslo.config reads an option. Its
// names are upper case only.
func (d Database) option(name string) string { return "OS_" + d.Section + "__" + name }
