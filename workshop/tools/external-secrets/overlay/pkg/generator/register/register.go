// Package register names the generators that the local cluster needs.
package register

import (
	// Random passwords.
	_ "github.com/external-secrets/external-secrets/pkg/generator/password"
	// Random identifiers.
	_ "github.com/external-secrets/external-secrets/pkg/generator/uuid"
)
