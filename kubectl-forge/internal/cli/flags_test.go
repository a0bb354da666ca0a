package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestATimeoutIsNotNegative(t *testing.T) {
	for value, want := range map[string]string{"-5s": "cannot be negative", "90s": "", "0": ""} {
		cmd := &cobra.Command{}
		cmd.Flags().Duration("timeout", defaultTimeout, timeoutUsage)
		if err := cmd.ParseFlags([]string{"--timeout", value}); err != nil {
			t.Fatal(err)
		}
		err := checkFlags(cmd, nil)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || codeOf(err) != CodeUsage) {
			t.Errorf("%s: got %v", value, err)
		}
	}
}

func TestAnUnknownFormatIsRefused(t *testing.T) {
	for value, want := range map[string]string{"xml": "table, json, yaml", "yaml": ""} {
		cmd := &cobra.Command{}
		outputFlag(cmd)
		if err := cmd.ParseFlags([]string{"--output", value}); err != nil {
			t.Fatal(err)
		}
		err := checkFlags(cmd, nil)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || codeOf(err) != CodeUsage) {
			t.Errorf("%s: got %v", value, err)
		}
	}
}
