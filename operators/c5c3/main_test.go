package main

import (
	"flag"
	"io"
	"strings"
	"testing"
	"time"
)

func TestTheRotationDayCanBeShortenedForTests(t *testing.T) {
	for value, want := range map[string]time.Duration{"": 0, "15s": 15 * time.Second, "1s": time.Second} {
		if got, err := rotationDay(value); err != nil || got != want {
			t.Errorf("rotationDay(%q) = %v, %v, want %v", value, got, err, want)
		}
	}
	for _, value := range []string{"1", "day", "0s", "-15s", "999ms"} {
		if _, err := rotationDay(value); err == nil || !strings.Contains(err.Error(), rotationDayVariable+` is "`+value) {
			t.Errorf("rotationDay(%q) = %v, want an error that names the variable and its value", value, err)
		}
	}
}

func TestTheNamespaceOfKORCIsAFlag(t *testing.T) {
	for name, c := range map[string]struct {
		args       []string
		want, fail string
	}{
		"by default":     {nil, "orc-system", ""},
		"another one":    {[]string{"--korc-namespace=k-orc"}, "k-orc", ""},
		"none":           {[]string{"--korc-namespace="}, "", "is not a valid name of a namespace"},
		"no namespace's": {[]string{"--korc-namespace=K_ORC"}, "", "is not a valid name of a namespace"},
	} {
		t.Run(name, func(t *testing.T) {
			fs := flag.NewFlagSet("manager", flag.ContinueOnError)
			fs.SetOutput(io.Discard)
			options().Flags(fs)
			err := fs.Parse(c.args)
			if c.fail != "" {
				if err == nil || !strings.Contains(err.Error(), c.fail) {
					t.Errorf("error %v, want one with %q", err, c.fail)
				}
				return
			}
			if got := fs.Lookup("korc-namespace").Value.String(); err != nil || got != c.want {
				t.Errorf("got %q (%v), want %q", got, err, c.want)
			}
		})
	}
}
