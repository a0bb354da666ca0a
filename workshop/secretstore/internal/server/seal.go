package server

import (
	"net/http"
	"slices"
	"sync"
)

// version is the version that the store reports, so that it is not mistaken for
// OpenBao.
const version = "0.0.0-stand-in"

// seal records whether the store is sealed, and collects keys that unseal it.
type seal struct {
	mu        sync.Mutex
	keys      []string
	threshold int
	sealed    bool
	entered   []string
}

type sealStatus struct {
	Type        string `json:"type"`
	Initialized bool   `json:"initialized"`
	Sealed      bool   `json:"sealed"`
	Threshold   int    `json:"t"`
	Shares      int    `json:"n"`
	Progress    int    `json:"progress"`
	Version     string `json:"version"`
}

// status returns the seal status in the format of the API.
func (s *seal) status() sealStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sealStatus{
		Type: "shamir", Initialized: len(s.keys) > 0, Sealed: s.sealed || len(s.keys) == 0, Threshold: s.threshold, Shares: len(s.keys),
		Progress: len(s.entered), Version: version,
	}
}

// initialise stores the first keys once they are saved, and seals the store.
func (s *seal) initialise(keys Keys, save func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.keys) > 0 {
		return fail(http.StatusBadRequest, "OpenBao is already initialized")
	}
	if err := save(); err != nil {
		return err
	}
	s.keys, s.threshold, s.sealed = keys.UnsealKeys, keys.Threshold, true
	return nil
}

func (s *seal) lock() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sealed, s.entered = true, nil
}

// enter accepts one key and reports whether it is one of the keys. Enough
// different ones unseal the store.
func (s *seal) enter(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.keys, key) {
		return false
	}
	if s.sealed && !slices.Contains(s.entered, key) {
		s.entered = append(s.entered, key)
	}
	if len(s.entered) >= s.threshold {
		s.sealed, s.entered = false, nil
	}
	return true
}
