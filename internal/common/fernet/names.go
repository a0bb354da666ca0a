package fernet

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// StagedName is the name of the key that the next rotation promotes to primary.
// Until then it neither signs nor encrypts anything.
const StagedName = "0"

// index returns the number in a key's name. Keystone reads every file whose name is
// a number; two spellings of the same number would hide a key.
func index(name string) (int, bool) {
	number, err := strconv.Atoi(name)
	if err != nil || number < 0 || strconv.Itoa(number) != name {
		return 0, false
	}
	return number, true
}

// PrimaryName returns the name of the key that signs and encrypts, which is the
// one with the highest number. ok is false if no key has a number other than "0".
func PrimaryName(data map[string][]byte) (name string, ok bool) {
	highest := 0
	for candidate := range data {
		if number, valid := index(candidate); valid && number > highest {
			highest, name = number, candidate
		}
	}
	return name, highest > 0
}

func validateNames(data map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(data)) {
		if _, ok := index(name); !ok {
			return fmt.Errorf("the name %q is not a number as Keystone writes it", name)
		}
	}
	return nil
}

// ID identifies a key without revealing anything about it: 12 hexadecimal digits of a
// SHA-256, which for a key of 256 random bits cannot be reversed or brute-forced.
func ID(key []byte) string {
	sum := sha256.Sum256(append([]byte("forge.c5c3.io/key-id:"), key...))
	return hex.EncodeToString(sum[:6])
}
