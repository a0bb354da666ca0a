package identity

import (
	"crypto/rand"
	"encoding/base64"
)

// NewSecret is 32 random bytes.
func NewSecret() []byte {
	var raw [32]byte
	// It never fails, see the documentation of the package.
	_, _ = rand.Read(raw[:])
	return []byte(base64.RawURLEncoding.EncodeToString(raw[:]))
}
