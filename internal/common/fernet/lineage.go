package fernet

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// ErrNotSuccessor is wrapped by errors about a key set that was not derived from
// the one in use.
var ErrNotSuccessor = errors.New("the staged keys were not derived from the keys in use")

// ReplacementID identifies the replacement of the current keys by the next ones.
// Like [ID], it reveals nothing about them.
func ReplacementID(current, next map[string][]byte) string {
	var sets []byte
	for _, set := range []map[string][]byte{current, next} {
		for _, name := range slices.Sorted(maps.Keys(set)) {
			sets = fmt.Appendf(sets, "%q=%s\n", name, ID(set[name]))
		}
		sets = append(sets, '\n')
	}
	return ID(sets)
}

// ValidateSuccessor checks that next is what "keystone-manage fernet_rotate" or
// "credential_rotate" makes of current: the staged key of current has become the
// primary one under the next number, "0" is a new key, the former primary key is
// still present, and every other key has kept its name. Keys may be
// missing, apart from the former primary one. Anything else was derived from another
// set than current, and would remove keys that existing tokens or credentials
// need. The numbers need not be contiguous: Keystone itself leaves gaps. Errors
// contain names of keys and never a part of their content.
func ValidateSuccessor(current, next map[string][]byte) error {
	if err := validateNames(next); err != nil {
		return err
	}
	primary, ok := PrimaryName(current)
	if !ok {
		return fmt.Errorf("%w: those have no primary key", ErrNotSuccessor)
	}
	promoted, ok := PrimaryName(next)
	switch {
	case !ok || !bytes.Equal(next[promoted], current[StagedName]) || len(current[StagedName]) == 0:
		return fmt.Errorf("%w: the new primary key is not the one that was staged before", ErrNotSuccessor)
	case !bytes.Equal(next[primary], current[primary]):
		return fmt.Errorf("%w: the primary key %q would be lost", ErrNotSuccessor, primary)
	}
	return validateRest(current, next, promoted)
}

func validateRest(current, next map[string][]byte, promoted string) error {
	known := map[string]bool{}
	for _, key := range current {
		known[string(key)] = true
	}
	if len(next[StagedName]) == 0 || known[string(next[StagedName])] {
		return fmt.Errorf("%w: key %q is not new", ErrNotSuccessor, StagedName)
	}
	for _, name := range slices.Sorted(maps.Keys(next)) {
		if name != StagedName && name != promoted && !bytes.Equal(next[name], current[name]) {
			return fmt.Errorf("%w: key %q differs from the one in use", ErrNotSuccessor, name)
		}
	}
	return nil
}
