// Package register names the providers that the local cluster needs: building
// those of all clouds would take five times as long.
package register

import (
	// Speaks the API of Vault and OpenBao.
	_ "github.com/external-secrets/external-secrets/pkg/provider/vault"
)
