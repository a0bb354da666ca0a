// Package command is the command line tool for the secret store, with the names,
// options and results of OpenBao's tool for the commands that both have.
package command

import (
	"context"
	"strings"
)

// Run runs the command named by the arguments.
func (t *Tool) Run(ctx context.Context, args []string) error {
	commands := []struct {
		name string
		run  func(context.Context, []string) error
	}{
		{"status", t.status},
		{"operator init", t.operatorInit},
		{"operator seal", t.operatorSeal},
		{"operator unseal", t.operatorUnseal},
		{"secrets list", t.listed("sys/mounts")},
		{"secrets enable", t.secretsEnable},
		{"secrets tune", t.secretsTune},
		{"auth list", t.listed("sys/auth")},
		{"auth enable", t.authEnable},
		{"policy list", t.policyList},
		{"policy read", t.policyRead},
		{"policy write", t.policyWrite},
		{"policy delete", t.policyDelete},
		{"read", t.read},
		{"write", t.write},
		{"list", t.list},
		{"delete", t.remove},
		{"kv get", t.kvGet},
		{"kv put", t.kvPut},
		{"kv list", t.kvList},
		{"kv delete", t.kvDelete},
		{"kv metadata get", t.metadataGet},
		{"kv metadata put", t.metadataPut},
		{"kv metadata delete", t.metadataDelete},
		{"stand-in empty", t.empty},
		{"stand-in fault", t.fault},
	}
	for _, c := range commands {
		words := strings.Fields(c.name)
		if len(args) >= len(words) && strings.Join(args[:len(words)], " ") == c.name {
			return c.run(ctx, args[len(words):])
		}
	}
	return errUsage
}
