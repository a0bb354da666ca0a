package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

func TestATimeoutIsNotNegative(t *testing.T) {
	cmd := &cobra.Command{}
	timeout := timeoutFlag(cmd, time.Minute)
	if err := cmd.ParseFlags([]string{"--timeout", "-5s"}); err == nil || !strings.Contains(err.Error(), "cannot be negative") {
		t.Errorf("got %v", err)
	}
	if err := cmd.ParseFlags([]string{"--timeout", "90s"}); err != nil || *timeout != 90*time.Second {
		t.Errorf("got %s, %v", *timeout, err)
	}
}
