package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/c5c3/forge/workshop/secretstore/internal/server"
)

// ErrSealed is returned by "status" for a sealed store.
var ErrSealed = errors.New("the store is sealed")

// status implements "bao status".
func (t *Tool) status(ctx context.Context, args []string) error {
	if err := newFlags().Parse(args); err != nil {
		return fmt.Errorf("%w\n\n%s", err, Usage)
	}
	var status struct {
		Initialized bool `json:"initialized"`
		Sealed      bool `json:"sealed"`
		Threshold   int  `json:"t"`
		Shares      int  `json:"n"`
		Progress    int  `json:"progress"`
	}
	if err := t.Client.Open(ctx, "GET", "sys/seal-status", nil, &status); err != nil {
		return err
	}
	if err := t.print(status); err != nil {
		return err
	}
	if status.Sealed {
		return ErrSealed
	}
	return nil
}

// operatorInit implements "bao operator init".
func (t *Tool) operatorInit(ctx context.Context, args []string) error {
	flags := newFlags()
	shares := flags.Int("key-shares", 5, "")
	threshold := flags.Int("key-threshold", 3, "")
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 {
		return errUsage
	}
	var answer struct {
		Keys       []string `json:"keys"`
		KeysBase64 []string `json:"keys_base64"`
		RootToken  string   `json:"root_token"`
	}
	body := map[string]int{"secret_shares": *shares, "secret_threshold": *threshold}
	if err := t.Client.Open(ctx, "PUT", "sys/init", body, &answer); err != nil {
		return err
	}
	keys := server.Keys{
		UnsealKeys: answer.KeysBase64, KeysHex: answer.Keys, Shares: *shares, Threshold: *threshold, RootToken: answer.RootToken,
	}
	return t.print(keys)
}

func (t *Tool) operatorSeal(ctx context.Context, _ []string) error {
	return t.Client.Do(ctx, "PUT", "sys/seal", nil, nil)
}

// operatorUnseal implements "bao operator unseal". Without an argument it uses the
// stand-in's own keys.
func (t *Tool) operatorUnseal(ctx context.Context, args []string) error {
	if len(args) > 1 {
		return errUsage
	}
	entered := args
	if len(args) == 0 {
		keys, err := t.Keys()
		if err != nil {
			return err
		}
		entered = keys.UnsealKeys[:keys.Threshold]
	}
	for _, key := range entered {
		if err := t.Client.Open(ctx, "PUT", "sys/unseal", map[string]string{"key": key}, nil); err != nil {
			return err
		}
	}
	return nil
}

// listed prints one of the lists of enabled engines or logins.
func (t *Tool) listed(path string) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error {
		if err := newFlags().Parse(args); err != nil {
			return fmt.Errorf("%w\n\n%s", err, Usage)
		}
		var answer struct {
			Data map[string]any `json:"data"`
		}
		if err := t.Client.Do(ctx, "GET", path, nil, &answer); err != nil {
			return err
		}
		return t.print(answer.Data)
	}
}

// secretsEnable implements "bao secrets enable".
func (t *Tool) secretsEnable(ctx context.Context, args []string) error {
	flags := newFlags()
	path := flags.String("path", "", "")
	version := flags.String("version", "", "")
	ttl := flags.String("max-lease-ttl", "", "")
	kind, err := parse(flags, args)
	if err != nil {
		return err
	}
	body := map[string]any{"type": kind}
	if *version != "" {
		body["options"] = map[string]string{"version": *version}
	}
	if *ttl != "" {
		body["config"] = map[string]string{"max_lease_ttl": *ttl}
	}
	return t.enable(ctx, "sys/mounts/", *path, kind, body)
}

// enable mounts an engine or a login, by default at a path named after its kind.
func (t *Tool) enable(ctx context.Context, list, path, kind string, body map[string]any) error {
	if path == "" {
		path = kind
	}
	return t.Client.Do(ctx, "POST", list+strings.Trim(path, "/"), body, nil)
}

// secretsTune implements "bao secrets tune".
func (t *Tool) secretsTune(ctx context.Context, args []string) error {
	flags := newFlags()
	ttl := flags.String("max-lease-ttl", "", "")
	path, err := parse(flags, args)
	if err != nil {
		return err
	}
	return t.Client.Do(ctx, "POST", "sys/mounts/"+path+"/tune", map[string]string{"max_lease_ttl": *ttl}, nil)
}

// authEnable implements "bao auth enable".
func (t *Tool) authEnable(ctx context.Context, args []string) error {
	flags := newFlags()
	path := flags.String("path", "", "")
	kind, err := parse(flags, args)
	if err != nil {
		return err
	}
	return t.enable(ctx, "sys/auth/", *path, kind, map[string]any{"type": kind})
}

const policies = "sys/policies/acl"

func (t *Tool) policyList(ctx context.Context, _ []string) error { return t.names(ctx, policies) }

// policyRead implements "bao policy read".
func (t *Tool) policyRead(ctx context.Context, args []string) error {
	name, err := parse(newFlags(), args)
	if err != nil {
		return err
	}
	var answer struct {
		Data struct {
			Policy string `json:"policy"`
		} `json:"data"`
	}
	if err := t.Client.Do(ctx, "GET", policies+"/"+name, nil, &answer); err != nil {
		return err
	}
	_, err = fmt.Fprintln(t.Out, strings.TrimSuffix(answer.Data.Policy, "\n"))
	return err
}

// policyWrite implements "bao policy write", from a file or from standard input.
func (t *Tool) policyWrite(ctx context.Context, args []string) error {
	name, files, err := parseMore(newFlags(), args)
	if err != nil || len(files) != 1 {
		return errUsage
	}
	var content []byte
	if files[0] == "-" {
		content, err = io.ReadAll(t.In)
	} else {
		content, err = os.ReadFile(files[0])
	}
	if err != nil {
		return fmt.Errorf("read the policy: %w", err)
	}
	return t.Client.Do(ctx, "PUT", policies+"/"+name, map[string]string{"policy": string(content)}, nil)
}

// policyDelete implements "bao policy delete".
func (t *Tool) policyDelete(ctx context.Context, args []string) error {
	name, err := parse(newFlags(), args)
	if err != nil {
		return err
	}
	return t.Client.Do(ctx, "DELETE", policies+"/"+name, nil, nil)
}
