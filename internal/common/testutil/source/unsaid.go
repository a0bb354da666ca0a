package source

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Unsaid returns the values of the constants in the vocabulary files that are used
// by no Go file directly in one of the folders, neither through the constant nor as
// a literal. Test files do not count. If several constants have the same value,
// such as the reason of a condition and of its event, using one of them is enough.
func Unsaid(folders []string, vocabulary ...string) ([]string, error) {
	code, err := codeIn(folders)
	if err != nil {
		return nil, err
	}
	constants, err := Constants(vocabulary...)
	if err != nil {
		return nil, err
	}
	said := map[string]bool{}
	for _, constant := range constants {
		said[constant.Value] = said[constant.Value] || mentions(code, constant.Name) || mentions(code, constant.Value)
	}
	var unsaid []string
	for value, ok := range said {
		if !ok {
			unsaid = append(unsaid, value)
		}
	}
	slices.Sort(unsaid)
	return unsaid, nil
}

func codeIn(folders []string) (string, error) {
	var code strings.Builder
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			return "", err
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			content, err := os.ReadFile(file)
			if err != nil {
				return "", err
			}
			code.Write(content)
		}
	}
	return code.String(), nil
}

// mentions reports whether code contains the word without another letter after it.
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
