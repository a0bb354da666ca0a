package keys

import (
	"encoding"
	"encoding/json"
	"fmt"
	"io"
)

const redacted = "***"

// Secret holds bytes that must not be printed: fmt with any verb, loggers and
// encoders show three asterisks instead. Convert it to []byte to use it.
// A struct that keeps one should export the field, since fmt cannot call
// methods on what it reaches through an unexported one.
type Secret []byte

var (
	_ fmt.Stringer   = Secret(nil)
	_ fmt.GoStringer = Secret(nil)
	_ fmt.Formatter  = Secret(nil)

	_ json.Marshaler         = Secret(nil)
	_ encoding.TextMarshaler = Secret(nil)
)

// String returns three asterisks.
func (Secret) String() string { return redacted }

// GoString returns three asterisks.
func (Secret) GoString() string { return redacted }

// Format writes three asterisks for every verb, %x and %d included.
func (Secret) Format(state fmt.State, _ rune) {
	// Format has no way to report a failed write.
	_, _ = io.WriteString(state, redacted)
}

// MarshalJSON returns three asterisks as a JSON string.
func (Secret) MarshalJSON() ([]byte, error) {
	return []byte(`"` + redacted + `"`), nil
}

// MarshalText returns three asterisks. The text handler of log/slog would
// otherwise write the bytes as they are.
func (Secret) MarshalText() ([]byte, error) {
	return []byte(redacted), nil
}
