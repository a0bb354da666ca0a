package command

import (
	"context"
	"strings"
)

// empty implements "bao stand-in empty": it deletes all secrets below a prefix.
func (t *Tool) empty(ctx context.Context, args []string) error {
	if len(args) > 1 {
		return errUsage
	}
	return t.Client.Do(ctx, "PUT", "sys/stand-in/empty", map[string]string{"prefix": strings.Join(args, "")}, nil)
}

// fault implements "bao stand-in fault": requests below a prefix are delayed or fail.
func (t *Tool) fault(ctx context.Context, args []string) error {
	flags := newFlags()
	delay := flags.Duration("delay", 0, "")
	status := flags.Int("status", 0, "")
	prefix, err := parse(flags, args)
	if err != nil {
		return err
	}
	body := map[string]any{"prefix": prefix, "delay": delay.String(), "status": *status}
	return t.Client.Do(ctx, "PUT", "sys/stand-in/fault", body, nil)
}
