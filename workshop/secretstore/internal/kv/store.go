package kv

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Store holds the secrets of one mount. It may be used from several goroutines.
type Store struct {
	mu      sync.RWMutex
	secrets map[string]*Secret
	now     func() time.Time
	save    func([]byte) error
}

// New returns a store with the secrets that an earlier one passed to save; none
// for nil. A change takes effect only when save has returned without an error.
func New(saved []byte, now func() time.Time, save func([]byte) error) (*Store, error) {
	s := &Store{secrets: map[string]*Secret{}, now: now, save: save}
	if saved != nil {
		if err := json.Unmarshal(saved, &s.secrets); err != nil {
			return nil, fmt.Errorf("read the saved secrets: %w", err)
		}
	}
	return s, nil
}

// Get returns the secret at a path, which the caller must not change, or
// ErrNotFound.
func (s *Store) Get(path string) (*Secret, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	secret, ok := s.secrets[path]
	if !ok {
		return nil, ErrNotFound
	}
	return secret, nil
}

// Write adds a version to the secret at a path, which is created if needed.
// With cas it fails unless that is the current version, 0 meaning none.
func (s *Store) Write(path string, data map[string]any, cas *int) (*Secret, error) {
	return s.change(path, true, func(secret *Secret) error {
		if err := secret.check(cas); err != nil {
			return err
		}
		secret.add(data, s.now())
		return nil
	})
}

// Metadata are the properties of a secret that a client may set; nil leaves one
// as it is.
type Metadata struct {
	MaxVersions    *int              `json:"max_versions"`
	CASRequired    *bool             `json:"cas_required"`
	CustomMetadata map[string]string `json:"custom_metadata"`
}

// WriteMetadata sets properties of the secret at a path, which is created
// without a version if needed.
func (s *Store) WriteMetadata(path string, m Metadata) error {
	_, err := s.change(path, true, func(secret *Secret) error {
		if m.MaxVersions != nil {
			secret.MaxVersions = *m.MaxVersions
		}
		if m.CASRequired != nil {
			secret.CASRequired = *m.CASRequired
		}
		if m.CustomMetadata != nil {
			secret.CustomMetadata = m.CustomMetadata
		}
		secret.UpdatedTime = s.now()
		return nil
	})
	return err
}

// Delete marks versions as deleted, the current one if none is named. Deleting
// what does not exist is not an error.
func (s *Store) Delete(path string, numbers []int) error {
	return s.changeVersions(path, numbers, func(v *Version) {
		if v.DeletionTime.IsZero() {
			v.DeletionTime = s.now()
		}
	})
}

// Undelete makes deleted versions readable again.
func (s *Store) Undelete(path string, numbers []int) error {
	return s.changeVersions(path, numbers, func(v *Version) { v.DeletionTime = time.Time{} })
}

// Destroy permanently removes the data of versions.
func (s *Store) Destroy(path string, numbers []int) error {
	return s.changeVersions(path, numbers, func(v *Version) { v.Destroyed, v.Data = true, nil })
}

// DeleteAll removes the secret at a path with all versions and properties.
func (s *Store) DeleteAll(path string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.secrets[path]; !ok {
		return nil
	}
	return s.replace(func(secrets map[string]*Secret) { delete(secrets, path) })
}

// Empty removes every secret whose path starts with a prefix.
func (s *Store) Empty(prefix string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.replace(func(secrets map[string]*Secret) {
		maps.DeleteFunc(secrets, func(path string, _ *Secret) bool { return strings.HasPrefix(path, prefix) })
	})
}

// List returns the names directly below a path, in order. Names of folders
// end with a slash.
func (s *Store) List(path string) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	prefix := ""
	if path != "" {
		prefix = strings.TrimSuffix(path, "/") + "/"
	}
	names := map[string]bool{}
	for full := range s.secrets {
		below, ok := strings.CutPrefix(full, prefix)
		if !ok || below == "" {
			continue
		}
		name, _, deeper := strings.Cut(below, "/")
		if deeper {
			name += "/"
		}
		names[name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// changeVersions changes some versions of a secret, the current one if no numbers are
// given. A secret that does not exist is not an error.
func (s *Store) changeVersions(path string, numbers []int, change func(*Version)) error {
	if _, err := s.Get(path); err != nil {
		return nil
	}
	_, err := s.change(path, false, func(secret *Secret) error {
		if len(numbers) == 0 {
			numbers = []int{secret.CurrentVersion}
		}
		for _, number := range numbers {
			if version, _ := secret.Version(number); version != nil && !version.Destroyed {
				change(version)
			}
		}
		return nil
	})
	return err
}

// change replaces the secret at a path with a changed copy, and returns the copy.
func (s *Store) change(path string, create bool, change func(*Secret) error) (*Secret, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var changed *Secret
	switch current, ok := s.secrets[path]; {
	case ok:
		changed = current.clone()
	case create:
		changed = &Secret{CreatedTime: s.now(), Versions: map[string]*Version{}}
	default:
		return nil, ErrNotFound
	}
	if err := change(changed); err != nil {
		return nil, err
	}
	if err := s.replace(func(secrets map[string]*Secret) { secrets[path] = changed }); err != nil {
		return nil, err
	}
	return changed, nil
}

// replace saves a changed copy of all secrets and then adopts it.
func (s *Store) replace(change func(map[string]*Secret)) error {
	secrets := maps.Clone(s.secrets)
	change(secrets)
	content, err := json.Marshal(secrets)
	if err != nil {
		return fmt.Errorf("encode the secrets: %w", err)
	}
	if err := s.save(content); err != nil {
		return fmt.Errorf("save the secrets: %w", err)
	}
	s.secrets = secrets
	return nil
}
