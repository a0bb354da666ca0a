package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"sync"

	"github.com/c5c3/forge/workshop/secretstore/internal/auth"
	"github.com/c5c3/forge/workshop/secretstore/internal/policy"
)

// mount is an engine or a login.
type mount struct {
	Type     string         `json:"type"`
	Accessor string         `json:"accessor"`
	Options  map[string]any `json:"options"`
	Config   map[string]any `json:"config"`
}

// setup is what an administrator sets up through the API. Its maps are replaced, never
// modified.
type setup struct {
	// Engines and Logins are keyed by path, which ends with a slash.
	Engines map[string]mount `json:"engines"`
	Logins  map[string]mount `json:"logins"`
	// Policies are texts, keyed by name.
	Policies map[string]string `json:"policies"`
	// Entries are roles and other settings, keyed by their whole path.
	Entries map[string]map[string]any `json:"entries"`
}

// settings guards the setup and saves each change before it takes effect.
type settings struct {
	mu       sync.RWMutex
	current  setup
	policies policy.Policies
	file     string
}

// builtIn is the initial content of every OpenBao.
var builtIn = map[string]mount{"token/": {Type: "token", Accessor: "auth_token_0"}}

// readSettings reads the settings from a file, or returns those of an empty store.
func readSettings(file string) (*settings, error) {
	s := &settings{file: file, current: setup{
		Engines: map[string]mount{}, Logins: maps.Clone(builtIn), Policies: map[string]string{}, Entries: map[string]map[string]any{},
	}}
	content, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(content, &s.current)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read the saved settings: %w", err)
	}
	s.policies, err = parsePolicies(s.current.Policies)
	return s, err
}

// parsePolicies parses policies by name.
func parsePolicies(texts map[string]string) (policy.Policies, error) {
	parsed := policy.Policies{}
	for name, text := range texts {
		p, err := policy.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("policy %q: %w", name, err)
		}
		parsed[name] = p
	}
	return parsed, nil
}

func (s *settings) get() setup {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.current
}

func (s *settings) allows(holder auth.Token, path string, wanted policy.Capability) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.policies.Allows(holder.Policies, policy.Identity{Accessor: holder.Login, Metadata: holder.Metadata}, path, wanted)
}

// change lets a function replace maps in a copy of the setup, and adopts the copy.
func (s *settings) change(do func(*setup) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := setup{
		Engines: maps.Clone(s.current.Engines), Logins: maps.Clone(s.current.Logins),
		Policies: maps.Clone(s.current.Policies), Entries: maps.Clone(s.current.Entries),
	}
	if err := do(&changed); err != nil {
		return err
	}
	policies, err := parsePolicies(changed.Policies)
	if err != nil {
		return err
	}
	content, err := json.MarshalIndent(changed, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the settings: %w", err)
	}
	if err := replaceFile(s.file, content); err != nil {
		return fmt.Errorf("save the settings: %w", err)
	}
	s.current, s.policies = changed, policies
	return nil
}

// engine returns the path of the engine that a path belongs to, and the engine.
func (s setup) engine(path string) (string, mount) { return longest(s.Engines, path) }

// login does the same for logins; the path is the part after auth/.
func (s setup) login(path string) (string, mount) { return longest(s.Logins, path) }

// longest returns the mount with the longest prefix of the path.
func longest(mounts map[string]mount, path string) (string, mount) {
	best := ""
	for prefix := range mounts {
		if len(prefix) > len(best) && len(path) >= len(prefix) && path[:len(prefix)] == prefix {
			best = prefix
		}
	}
	return best, mounts[best]
}
