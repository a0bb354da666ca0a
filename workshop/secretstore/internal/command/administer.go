package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	vault "github.com/hashicorp/vault/api"

	"github.com/c5c3/forge/workshop/secretstore/internal/server"
)

func (t *Tool) status(ctx context.Context, _ []string) error {
	status, err := t.client.Sys().SealStatusWithContext(ctx)
	if err != nil {
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

func (t *Tool) operatorInit(ctx context.Context, _ []string) error {
	o := t.options
	answer, err := t.client.Sys().InitWithContext(ctx, &vault.InitRequest{SecretShares: o.shares, SecretThreshold: o.threshold})
	if err != nil {
		return err
	}
	return t.print(server.Keys{
		UnsealKeys: answer.KeysB64, KeysHex: answer.Keys, Shares: o.shares, Threshold: o.threshold, RootToken: answer.RootToken,
	})
}

func (t *Tool) operatorSeal(ctx context.Context, _ []string) error {
	return t.client.Sys().SealWithContext(ctx)
}

// operatorUnseal enters the key that is named, or the store's own.
func (t *Tool) operatorUnseal(ctx context.Context, args []string) error {
	if len(args) == 0 {
		args = t.keys.UnsealKeys[:t.keys.Threshold]
	}
	for _, key := range args {
		if _, err := t.client.Sys().UnsealWithContext(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tool) secretsList(ctx context.Context, _ []string) error {
	engines, err := t.client.Sys().ListMountsWithContext(ctx)
	if err != nil {
		return err
	}
	return t.print(engines)
}

func (t *Tool) secretsEnable(ctx context.Context, args []string) error {
	engine := &vault.MountInput{Type: args[0], Config: vault.MountConfigInput{MaxLeaseTTL: t.options.ttl}}
	if t.options.version != "" {
		engine.Options = map[string]string{"version": t.options.version}
	}
	return t.client.Sys().MountWithContext(ctx, cmp.Or(t.options.path, args[0]), engine)
}

func (t *Tool) authList(ctx context.Context, _ []string) error {
	logins, err := t.client.Sys().ListAuthWithContext(ctx)
	if err != nil {
		return err
	}
	return t.print(logins)
}

func (t *Tool) authEnable(ctx context.Context, args []string) error {
	login := &vault.EnableAuthOptions{Type: args[0]}
	return t.client.Sys().EnableAuthWithOptionsWithContext(ctx, cmp.Or(t.options.path, args[0]), login)
}

func (t *Tool) policyRead(ctx context.Context, args []string) error {
	text, err := t.client.Sys().GetPolicyWithContext(ctx, args[0])
	if err == nil && text == "" {
		err = fmt.Errorf("policy %q: %w", args[0], ErrNotFound)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(t.out, strings.TrimSuffix(text, "\n"))
	return err
}

func (t *Tool) policyWrite(ctx context.Context, args []string) error {
	if args[1] != "-" {
		return errors.New("the policy is read from standard input: policy write NAME -")
	}
	content, err := io.ReadAll(t.in)
	if err != nil {
		return fmt.Errorf("read the policy: %w", err)
	}
	return t.client.Sys().PutPolicyWithContext(ctx, args[0], string(content))
}

// empty deletes all secrets below a prefix.
func (t *Tool) empty(ctx context.Context, args []string) error {
	return t.send(ctx, "sys/stand-in/empty", map[string]any{"prefix": args[0]})
}

// fault makes requests below a prefix late, or lets them fail.
func (t *Tool) fault(ctx context.Context, args []string) error {
	fault := map[string]any{"prefix": args[0], "delay": t.options.delay.String(), "status": t.options.status}
	return t.send(ctx, "sys/stand-in/fault", fault)
}
