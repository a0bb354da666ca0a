// Package digest computes short identifiers of texts.
package digest

import "crypto/sha256"

// Size is the length of a [Digest] in bytes.
const Size = 16

// Digest is the first half of a SHA-256 digest: nobody can find two texts with the same one.
type Digest [Size]byte

// Of returns the digest of a text.
func Of(text []byte) Digest {
	sum := sha256.Sum256(text)
	return Digest(sum[:Size])
}
