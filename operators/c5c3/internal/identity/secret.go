package identity

import (
	"crypto/rand"
	"encoding/base64"
)

// NewSecret returns a secret of 32 random bytes.
func NewSecret() []byte {
	var raw [32]byte
	// According to its documentation, rand.Read never fails.
	_, _ = rand.Read(raw[:])
	return []byte(base64.RawURLEncoding.EncodeToString(raw[:]))
}
