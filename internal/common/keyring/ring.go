// Package keyring replaces a key that encrypts other keys while a service uses it. The
// service reads a list of keys from a file: the first one encrypts, and each of them
// decrypts. All pods get the new key as a further one, then as the first one. What the old key
// has encrypted is then encrypted again, and all pods lose the old key. The Secret with the
// file says how far this has come, so that nothing is lost wherever it is interrupted.
package keyring

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/fernet"
)

// Entries of the Secret in addition to the file. They are part of its content, and not of its
// metadata, so that copies of the Secret have them, too.
const (
	entryReplaced = "replaced-key"
	entryAnswered = "answered-request"
)

// Format is how the service reads its keys.
type Format struct {
	// File is the name of the file, and of the entry of the Secret.
	File string
	// Section and Option are where the keys stand in it, one a line.
	Section, Option string
}

// Ring are the keys of a service.
type Ring struct {
	// Keys are the keys. The first one encrypts, each of them decrypts.
	Keys []string
	// Replaced identifies the key that a rotation replaces, "" without one.
	Replaced string
	// Answered is the request for the last rotation that has begun, or what was requested
	// when the first key was made.
	Answered string
}

// Make returns a ring with a new key.
func Make(request string) (Ring, error) {
	key, err := newKey()
	return Ring{Keys: []string{key}, Answered: request}, err
}

func newKey() (string, error) {
	made, err := fernet.Generate(1)
	if err != nil {
		return "", fmt.Errorf("generating a key: %w", err)
	}
	return string(made["0"]), nil
}

// Data returns the content of the Secret with the keys.
func (f Format) Data(r Ring) map[string][]byte {
	var file strings.Builder
	fmt.Fprintf(&file, "[%s]\n", f.Section)
	for _, key := range r.Keys {
		fmt.Fprintf(&file, "%s = %s\n", f.Option, key)
	}
	data := map[string][]byte{f.File: []byte(file.String())}
	for name, value := range map[string]string{entryReplaced: r.Replaced, entryAnswered: r.Answered} {
		if value != "" {
			data[name] = []byte(value)
		}
	}
	return data
}

// Projection is the file, out of the named Secret.
func (f Format) Projection(secret string) corev1.VolumeProjection {
	return deployment.SecretProjection(secret, corev1.KeyToPath{Key: f.File, Path: f.File})
}

// Validate returns why the content of a Secret is no [Ring], or nil. The error contains no
// key.
func (f Format) Validate(data map[string][]byte) error {
	_, err := f.Parse(data)
	return err
}

// Parse returns the keys in the content of a Secret. It accepts only what [Format.Data]
// writes, so that the service reads the same. The error contains no key.
func (f Format) Parse(data map[string][]byte) (Ring, error) {
	r := Ring{Replaced: string(data[entryReplaced]), Answered: string(data[entryAnswered])}
	lines := strings.Split(strings.TrimSuffix(string(data[f.File]), "\n"), "\n")
	if lines[0] != "["+f.Section+"]" {
		return r, fmt.Errorf("entry %s does not begin with the line [%s]", f.File, f.Section)
	}
	for i, line := range lines[1:] {
		key, found := strings.CutPrefix(line, f.Option+" = ")
		if !found {
			return r, fmt.Errorf(`line %d of entry %s does not begin with "%s = "`, i+2, f.File, f.Option)
		}
		if err := fernet.ValidateKey([]byte(key)); err != nil {
			return r, fmt.Errorf("the key in line %d of entry %s %w", i+2, f.File, err)
		}
		if slices.Contains(r.Keys, key) {
			return r, fmt.Errorf("line %d of entry %s repeats a key", i+2, f.File)
		}
		r.Keys = append(r.Keys, key)
	}
	switch {
	case len(r.Keys) == 0:
		return r, fmt.Errorf("entry %s has no key", f.File)
	case r.Replaced != "" && (len(r.Keys) == 1 || !slices.ContainsFunc(r.Keys, r.isReplaced)):
		return r, errors.New("the keys are not those of the rotation in entry " + entryReplaced)
	}
	return r, nil
}

func (r Ring) isReplaced(key string) bool { return fernet.ID([]byte(key)) == r.Replaced }

// settled reports whether no rotation is in progress.
func (r Ring) settled() bool { return r.Replaced == "" }

// announced reports whether the new key still follows the one that it replaces.
func (r Ring) announced() bool { return !r.settled() && r.isReplaced(r.Keys[0]) }

// announce begins a rotation: the key decrypts.
func (r Ring) announce(key, request string) Ring {
	return Ring{Keys: slices.Insert(slices.Clone(r.Keys), 1, key), Replaced: fernet.ID([]byte(r.Keys[0])), Answered: request}
}

// lead makes the new key the one that encrypts.
func (r Ring) lead() Ring {
	r.Keys = slices.Clone(r.Keys)
	r.Keys[0], r.Keys[1] = r.Keys[1], r.Keys[0]
	return r
}

// settle ends a rotation: the first key has encrypted everything.
func (r Ring) settle() Ring { return Ring{Keys: r.Keys[:1:1], Answered: r.Answered} }
