package server

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/c5c3/forge/hack/secretstore/internal/auth"
	"github.com/c5c3/forge/hack/secretstore/internal/policy"
)

// Config is what an administrator of OpenBao sets up by its API.
type Config struct {
	// Mount is the path of the key/value engine, without slashes around it.
	Mount string `json:"mount"`
	// Kubernetes holds the roles of each mount of the Kubernetes login, such as
	// "kubernetes/management", by name.
	Kubernetes map[string]map[string]auth.Role `json:"kubernetes"`
	Policies   policy.Policies                 `json:"policies"`
}

// ReadConfig reads a configuration in JSON.
func ReadConfig(file string) (Config, error) {
	var config Config
	content, err := os.ReadFile(file)
	if err != nil {
		return config, fmt.Errorf("read the configuration: %w", err)
	}
	if err := json.Unmarshal(content, &config); err != nil {
		return config, fmt.Errorf("parse the configuration %s: %w", file, err)
	}
	return config, nil
}

// Keys open the store: the tokens and keys that initialising OpenBao prints.
type Keys struct {
	RootToken  string   `json:"root_token"`
	UnsealKeys []string `json:"unseal_keys_b64"`
	Threshold  int      `json:"unseal_threshold"`
}

// ReadKeys reads keys in the form that "bao operator init -format=json" prints.
func ReadKeys(file string) (Keys, error) {
	var keys Keys
	content, err := os.ReadFile(file)
	if err != nil {
		return keys, fmt.Errorf("read the keys: %w", err)
	}
	// The content is secret: a parser's message could quote it.
	if json.Unmarshal(content, &keys) != nil || keys.RootToken == "" || keys.Threshold > len(keys.UnsealKeys) {
		return keys, fmt.Errorf("%s does not hold a root token and enough keys to unseal", file)
	}
	return keys, nil
}
