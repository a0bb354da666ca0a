// Package kv stores versioned secrets, with the semantics of version 2 of
// OpenBao's key/value engine.
package kv

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"
)

// DefaultMaxVersions is how many versions of a secret are kept unless its
// metadata says otherwise; older ones are removed permanently.
const DefaultMaxVersions = 10

var (
	// ErrNotFound reports that there is no secret, or no such version, at a path.
	ErrNotFound = errors.New("not found")
	// ErrCheckAndSet reports that a write named a version other than the current
	// one. The text is OpenBao's, which clients compare.
	ErrCheckAndSet = errors.New("check-and-set parameter did not match the current version")
	// ErrCheckAndSetRequired reports that a write has to name the current version.
	ErrCheckAndSetRequired = errors.New("check-and-set parameter required for this call")
)

// Version is one version of a secret.
type Version struct {
	CreatedTime time.Time `json:"created_time"`
	// DeletionTime is zero unless the version was deleted; it can be restored.
	DeletionTime time.Time `json:"deletion_time,omitzero"`
	// Destroyed is set if the data was permanently removed.
	Destroyed bool `json:"destroyed"`
	// Data is nil when the version is destroyed.
	Data map[string]any `json:"data"`
}

// Readable reports whether the data of the version can be read.
func (v *Version) Readable() bool { return v != nil && !v.Destroyed && v.DeletionTime.IsZero() }

// Secret holds the versions stored at a path.
type Secret struct {
	CreatedTime    time.Time           `json:"created_time"`
	UpdatedTime    time.Time           `json:"updated_time"`
	CurrentVersion int                 `json:"current_version"`
	OldestVersion  int                 `json:"oldest_version"`
	MaxVersions    int                 `json:"max_versions"`
	CASRequired    bool                `json:"cas_required"`
	CustomMetadata map[string]string   `json:"custom_metadata"`
	Versions       map[string]*Version `json:"versions"`
}

// Version returns a version, the current one for 0, and its number. It returns
// nil when there is none.
func (s *Secret) Version(number int) (*Version, int) {
	if number == 0 {
		number = s.CurrentVersion
	}
	return s.Versions[strconv.Itoa(number)], number
}

// clone copies what a change may modify. Data is never changed in place.
func (s *Secret) clone() *Secret {
	c := *s
	c.CustomMetadata = maps.Clone(s.CustomMetadata)
	c.Versions = make(map[string]*Version, len(s.Versions))
	for number, version := range s.Versions {
		v := *version
		c.Versions[number] = &v
	}
	return &c
}

// add appends a version and drops those beyond the limit.
func (s *Secret) add(data map[string]any, now time.Time) {
	s.CurrentVersion++
	s.UpdatedTime = now
	s.Versions[strconv.Itoa(s.CurrentVersion)] = &Version{CreatedTime: now, Data: data}
	limit := s.MaxVersions
	if limit == 0 {
		limit = DefaultMaxVersions
	}
	for oldest := s.CurrentVersion - limit; oldest > 0 && oldest >= s.OldestVersion; oldest-- {
		delete(s.Versions, strconv.Itoa(oldest))
		s.OldestVersion = max(s.OldestVersion, oldest+1)
	}
}

// check compares the version that a write is based on with the current one.
func (s *Secret) check(cas *int) error {
	switch {
	case cas == nil && s.CASRequired:
		return ErrCheckAndSetRequired
	case cas != nil && *cas != s.CurrentVersion:
		return fmt.Errorf("%w: the current version is %d", ErrCheckAndSet, s.CurrentVersion)
	}
	return nil
}
