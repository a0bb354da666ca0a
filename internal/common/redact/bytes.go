// Package redact protects values from accidental printing.
package redact

import (
	"encoding"
	"encoding/json"
	"fmt"
	"io"
)

const redacted = "***"

// Bytes holds bytes that must not be printed: fmt with any verb, loggers and
// encoders show three asterisks instead. Convert it to []byte to use it. A
// struct that keeps one should export the field, since fmt cannot call methods
// on values of unexported fields.
type Bytes []byte

var (
	_ fmt.Stringer   = Bytes(nil)
	_ fmt.GoStringer = Bytes(nil)
	_ fmt.Formatter  = Bytes(nil)

	_ json.Marshaler         = Bytes(nil)
	_ encoding.TextMarshaler = Bytes(nil)
)

// String returns three asterisks.
func (Bytes) String() string { return redacted }

// GoString returns three asterisks.
func (Bytes) GoString() string { return redacted }

// Format writes three asterisks for every verb, %x and %d included.
func (Bytes) Format(state fmt.State, _ rune) {
	// Format has no way to report a failed write.
	_, _ = io.WriteString(state, redacted)
}

// MarshalJSON returns three asterisks as a JSON string.
func (Bytes) MarshalJSON() ([]byte, error) {
	return []byte(`"` + redacted + `"`), nil
}

// MarshalText returns three asterisks. The text handler of log/slog would
// otherwise write the bytes as they are.
func (Bytes) MarshalText() ([]byte, error) {
	return []byte(redacted), nil
}
