package redact

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestASecretShowsAsterisksWhereverItIsPrinted(t *testing.T) {
	secret := Bytes("hunter2")
	holder := struct{ Password Bytes }{secret}
	verbs := []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%d", "%c", "%o", "%b", "%U", "%t", "%20.3s"}

	for _, verb := range verbs {
		for name, value := range map[string]any{
			"secret": secret, "pointer": &secret, "slice": []Bytes{secret}, "struct": holder,
			"map": map[string]Bytes{"k": secret},
		} {
			expectRedacted(t, verb+" of "+name, fmt.Sprintf(verb, value))
		}
	}
}

func TestASecretShowsAsterisksInJSONErrorsAndLogs(t *testing.T) {
	secret := Bytes("hunter2")
	encoded, err := json.Marshal(map[string]any{"list": []Bytes{secret}, "pointer": &secret})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"list":["***"],"pointer":"***"}`; string(encoded) != want {
		t.Errorf("got %s, expected %s", encoded, want)
	}
	expectRedacted(t, "an error", fmt.Errorf("login with %s: %w", secret, errors.New("refused")).Error())

	var text, object strings.Builder
	slog.New(slog.NewTextHandler(&text, nil)).Info("login", "password", secret)
	slog.New(slog.NewJSONHandler(&object, nil)).Info("login", "password", secret)
	expectRedacted(t, "a text log", text.String())
	expectRedacted(t, "a JSON log", object.String())

	expectRedacted(t, "String", secret.String())
	expectRedacted(t, "GoString", secret.GoString())
}

func TestRedactedBytesConvertToTheSecret(t *testing.T) {
	if got := string([]byte(Bytes("hunter2"))); got != "hunter2" {
		t.Errorf("got %q, expected the bytes themselves", got)
	}
}

// expectRedacted checks that text contains the secret neither verbatim nor in
// hexadecimal, decimal or base64.
func expectRedacted(t *testing.T, what, text string) {
	t.Helper()
	for _, shown := range []string{"hunter2", "68756e", "68 75", "68756E", "104 117", "aHVudGVy"} {
		if strings.Contains(text, shown) {
			t.Errorf("%s shows the secret: %s", what, text)
		}
	}
	if !strings.Contains(text, redacted) {
		t.Errorf("%s is %q, expected it to contain %s", what, text, redacted)
	}
}
