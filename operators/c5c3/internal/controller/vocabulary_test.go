package controller

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/c5c3/forge/internal/common/reference"
	"github.com/c5c3/forge/internal/common/testutil/outside"
)

func TestNoReasonAndNoEventIsDocumentedThatNothingSays(t *testing.T) {
	var code strings.Builder
	for _, folder := range []string{".", outside.File("../../../../internal/common/reconcile")} {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			code.Write(content)
		}
	}
	said := map[string]bool{}
	for _, file := range []string{"conditions.go", "events.go"} {
		constants, err := reference.Constants("../../api/v1alpha1/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, constant := range constants {
			// The event of a transition has the reason of its condition.
			said[constant.Value] = said[constant.Value] || mentions(code.String(), constant.Name) || mentions(code.String(), constant.Value)
		}
	}
	for value, ok := range said {
		if !ok {
			t.Errorf("nothing says %s", value)
		}
	}
}

// mentions tells whether code has the word, alone or as a text of its own.
func mentions(code, word string) bool {
	for rest := code; ; {
		_, after, found := strings.Cut(rest, word)
		if !found {
			return false
		}
		if after == "" || !strings.ContainsAny(after[:1], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			return true
		}
		rest = after
	}
}
