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
)

// Keys unseal the store, in the format that "bao operator init -format=json" prints.
type Keys struct {
	UnsealKeys []string `json:"unseal_keys_b64"`
	KeysHex    []string `json:"unseal_keys_hex"`
	Shares     int      `json:"unseal_shares"`
	Threshold  int      `json:"unseal_threshold"`
	RootToken  string   `json:"root_token"`
}

// NewKeys generates keys of which a threshold unseals a store.
func NewKeys(shares, threshold int) Keys {
	keys := Keys{Shares: shares, Threshold: threshold, RootToken: "s." + rand.Text()}
	for range shares {
		key := make([]byte, 32)
		_, _ = rand.Read(key)
		keys.UnsealKeys = append(keys.UnsealKeys, base64.StdEncoding.EncodeToString(key))
		keys.KeysHex = append(keys.KeysHex, hex.EncodeToString(key))
	}
	return keys
}

const keysName = "keys.json"

// ReadKeys reads the keys that the store in a folder was initialised with. They are
// stored for its own tool, which runs in its pod: OpenBao itself does not store them.
func ReadKeys(dir string) (Keys, error) {
	var keys Keys
	content, err := os.ReadFile(filepath.Join(dir, keysName))
	if errors.Is(err, os.ErrNotExist) {
		return keys, errors.New("the store is not initialised: run deploy/openbao/bootstrap/bootstrap.sh")
	}
	if err != nil {
		return keys, fmt.Errorf("read the keys: %w", err)
	}
	// The content is secret: a parser's message could quote it.
	if json.Unmarshal(content, &keys) != nil || keys.RootToken == "" || keys.Threshold > len(keys.UnsealKeys) {
		return keys, fmt.Errorf("%s does not hold a root token and enough keys to unseal", keysName)
	}
	return keys, nil
}
