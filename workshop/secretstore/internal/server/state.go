package server

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/c5c3/forge/workshop/secretstore/internal/policy"
)

// state is everything that the store keeps. It is replaced as a whole, never modified.
type state struct {
	Keys Keys `json:"keys"`
	// Engines and Logins are keyed by path, which ends with a slash.
	Engines map[string]mount `json:"engines"`
	Logins  map[string]mount `json:"logins"`
	// Policies are texts, keyed by name.
	Policies map[string]string `json:"policies"`
	// Entries are roles and other settings, keyed by their whole path.
	Entries map[string]map[string]any `json:"entries"`
	Secrets map[string]*secret        `json:"secrets"`

	policies map[string]policy.Policy
}

// Keys unseal the store, in the format that "bao operator init -format=json" prints. They
// are kept for the store's own tool, which runs in its pod: OpenBao does not keep them.
type Keys struct {
	UnsealKeys []string `json:"unseal_keys_b64"`
	KeysHex    []string `json:"unseal_keys_hex"`
	Shares     int      `json:"unseal_shares"`
	Threshold  int      `json:"unseal_threshold"`
	RootToken  string   `json:"root_token"`
}

// mount is an engine or a login.
type mount struct {
	Type     string            `json:"type"`
	Accessor string            `json:"accessor"`
	Options  map[string]string `json:"options"`
}

// maxVersions is how many versions of a secret are kept, as many as OpenBao keeps by default.
const maxVersions = 10

// secret is a secret with its latest versions.
type secret struct {
	// Version is the current one, 0 if there is metadata only.
	Version  int               `json:"version"`
	Versions map[int]*version  `json:"versions"`
	Metadata map[string]string `json:"metadata"`
	Created  time.Time         `json:"created"`
	Updated  time.Time         `json:"updated"`
}

// version is a version of a secret.
type version struct {
	// Data is nil if the version is deleted.
	Data    map[string]any `json:"data"`
	Created time.Time      `json:"created"`
	Deleted time.Time      `json:"deleted,omitzero"`
}

// newKeys generates keys of which a threshold unseals a store.
func newKeys(shares, threshold int) Keys {
	keys := Keys{Shares: shares, Threshold: threshold, RootToken: "s." + rand.Text()}
	for range shares {
		key := make([]byte, 32)
		_, _ = rand.Read(key)
		keys.UnsealKeys = append(keys.UnsealKeys, base64.StdEncoding.EncodeToString(key))
		keys.KeysHex = append(keys.KeysHex, hex.EncodeToString(key))
	}
	return keys
}

// decodeState parses what a store has kept. An error quotes nothing of it.
func decodeState(content []byte) (*state, error) {
	s := &state{
		Engines: map[string]mount{}, Logins: map[string]mount{}, Policies: map[string]string{},
		Entries: map[string]map[string]any{}, Secrets: map[string]*secret{}, policies: map[string]policy.Policy{},
	}
	if len(content) > 0 && json.Unmarshal(content, s) != nil {
		return nil, errors.New("the file of the store does not hold what a store keeps")
	}
	for name, text := range s.Policies {
		parsed, err := policy.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("policy %q: %w", name, err)
		}
		s.policies[name] = parsed
	}
	return s, nil
}

// fileIn returns the file in a folder in which a store keeps its state.
func fileIn(dir string) string { return filepath.Join(dir, "store.json") }

// ReadKeys reads the keys of the store in a folder. Before it is initialised they are empty.
func ReadKeys(dir string) (Keys, error) {
	content, err := os.ReadFile(fileIn(dir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return Keys{}, fmt.Errorf("read the keys: %w", err)
	}
	s, err := decodeState(content)
	if err != nil {
		return Keys{}, err
	}
	return s.Keys, nil
}

// kept is the state, and the file that holds it.
type kept struct {
	file    string
	current atomic.Pointer[state]
	// mu is held during a change.
	mu    sync.Mutex
	saved []byte
}

// open reads the state in a folder, that of an empty store at first.
func open(dir string) (*kept, error) {
	k := &kept{file: fileIn(dir)}
	var err error
	if k.saved, err = os.ReadFile(k.file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	s, err := decodeState(k.saved)
	k.current.Store(s)
	return k, err
}

// change lets a function modify a copy of the state, saves the copy, and adopts it.
func (k *kept) change(do func(*state) error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	next, err := decodeState(k.saved)
	if err != nil {
		return err
	}
	if err := do(next); err != nil {
		return err
	}
	content, err := json.MarshalIndent(next, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the state: %w", err)
	}
	if next, err = decodeState(content); err != nil {
		return err
	}
	err = os.WriteFile(k.file+".new", content, 0o600)
	if err == nil {
		// The file has either the old or the new content.
		err = os.Rename(k.file+".new", k.file)
	}
	if err != nil {
		return fmt.Errorf("save the state: %w", err)
	}
	k.saved = content
	k.current.Store(next)
	return nil
}
