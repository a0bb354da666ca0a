package envtest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
)

// administrator is a user with all permissions.
const administrator = "administrator"

// writeTokens makes a token for the administrator and for each of the users. It writes
// them to a file, which the API server reads when it starts. A token costs the API server
// less than a client certificate, whose chain it verifies for every request.
func writeTokens(users []string) (path string, tokens map[string]string, err error) {
	file, err := os.CreateTemp("", "tokens-*.csv")
	if err != nil {
		return "", nil, err
	}
	tokens = map[string]string{administrator: rand.Text()}
	lines := []string{fmt.Sprintf("%s,%s,%s,system:masters", tokens[administrator], administrator, administrator)}
	for _, name := range users {
		tokens[name] = rand.Text()
		lines = append(lines, fmt.Sprintf("%s,%s,%s", tokens[name], name, name))
	}
	_, err = file.WriteString(strings.Join(lines, "\n") + "\n")
	if err := errors.Join(err, file.Close()); err != nil {
		return "", nil, errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), tokens, nil
}
