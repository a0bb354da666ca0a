// Package fernet generates and checks the symmetric keys with which Keystone signs
// its tokens and encrypts its credentials. Both families use the Fernet format.
package fernet

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

const (
	// MinActive is the smallest number of keys in use: the staged one, the
	// primary one and one secondary one, so that tokens signed with the
	// previous primary key stay valid.
	MinActive = 3

	rawLength     = 32
	encodedLength = 44
)

// Generate returns n new keys under the names "0" to n-1, as keystone-manage
// names the files of a key repository. Each is the URL-safe base64 form, 44
// characters long, of 32 bytes from the system's secure random source. It returns
// an error if n is less than one.
func Generate(n int) (map[string][]byte, error) {
	if n < 1 {
		return nil, fmt.Errorf("cannot generate %d keys: ask for at least 1", n)
	}
	generated := make(map[string][]byte, n)
	for i := range n {
		raw := make([]byte, rawLength)
		if _, err := rand.Read(raw); err != nil {
			return nil, fmt.Errorf("reading random bytes for a key: %w", err)
		}
		generated[strconv.Itoa(i)] = base64.URLEncoding.AppendEncode(nil, raw)
	}
	return generated, nil
}

// Validate checks a key set before it replaces another one: between MinActive keys
// and one more than maxActive, all distinct, each the 44-character URL-safe base64
// form of 32 bytes. The names of the keys do not matter. Errors name the offending
// key and never contain a part of it.
func Validate(data map[string][]byte, maxActive int32) error {
	// Right after a rotation, Keystone may hold one key more than the limit.
	most := int(Normalise(maxActive)) + 1
	if len(data) < MinActive || len(data) > most {
		return fmt.Errorf("the key set holds %d keys, expected between %d and %d", len(data), MinActive, most)
	}
	return validateEach(data)
}

// ValidateInUse checks a key set that is already in use: it may hold more keys than
// a limit that has since been lowered, but Keystone must find all of them by name,
// including a staged and a primary key.
func ValidateInUse(data map[string][]byte) error {
	if len(data) < MinActive {
		return fmt.Errorf("the key set holds %d keys, expected at least %d", len(data), MinActive)
	}
	if err := validateNames(data); err != nil {
		return err
	}
	if _, staged := data[StagedName]; !staged {
		return fmt.Errorf("the key set lacks the staged key %q", StagedName)
	}
	return validateEach(data)
}

func validateEach(data map[string][]byte) error {
	nameOf := make(map[[rawLength]byte]string, len(data))
	for _, name := range slices.Sorted(maps.Keys(data)) {
		raw, err := decode(data[name])
		if err != nil {
			return fmt.Errorf("key %q: %w", name, err)
		}
		if other, ok := nameOf[raw]; ok {
			return fmt.Errorf("keys %q and %q are the same, expected distinct keys", other, name)
		}
		nameOf[raw] = name
	}
	return nil
}

// ValidateKey checks that a key is the 44-character URL-safe base64 form of 32 bytes. The
// error continues a sentence about the key, and contains no part of it.
func ValidateKey(encoded []byte) error {
	_, err := decode(encoded)
	return err
}

// decode does not return the error of the decoder, because it reveals the position
// of the malformed content.
func decode(encoded []byte) ([rawLength]byte, error) {
	var raw [rawLength]byte
	if len(encoded) != encodedLength {
		return raw, fmt.Errorf("has %d characters, expected %d", len(encoded), encodedLength)
	}
	buffer := make([]byte, base64.URLEncoding.DecodedLen(encodedLength))
	n, err := base64.URLEncoding.Decode(buffer, encoded)
	if err != nil || n != rawLength {
		return raw, errors.New("is not the URL-safe base64 form of 32 bytes")
	}
	copy(raw[:], buffer[:n])
	return raw, nil
}

// Normalise returns maxActive, or MinActive if that is larger.
func Normalise(maxActive int32) int32 {
	return max(maxActive, MinActive)
}

// RequiredActiveKeys returns the smallest max_active_keys with which no Fernet
// token becomes invalid early. The formula is Keystone's: the lifetime of a token
// in rotation periods, rounded up, plus two for the staged and the primary key. The
// lifetime is the token's expiration plus the window in which expired tokens are
// still accepted. The result is at least MinActive, also for a rotation period of
// zero or less, which means that keys never rotate.
//
// Source: the Fernet FAQ of the Keystone administrator guide.
func RequiredActiveKeys(tokenLifetime, allowExpiredWindow, rotationPeriod time.Duration) int {
	lifetime := max(tokenLifetime, 0) + max(allowExpiredWindow, 0)
	if rotationPeriod <= 0 || lifetime <= 0 {
		return MinActive
	}
	periods := int((lifetime-1)/rotationPeriod) + 1
	return max(periods+2, MinActive)
}
