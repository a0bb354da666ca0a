package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Forms returns the ways in which a value is written elsewhere, the longest first: as it is,
// in a URL, in base64 and in JSON. Without padding the base64 of a value is the prefix of the
// one with padding or with a line end.
func Forms(value string) []string {
	raw, text := []byte(value), inJSON(value, false)
	all := []string{
		value, url.QueryEscape(value), url.PathEscape(value), strings.ReplaceAll(url.QueryEscape(value), "+", "%20"),
		base64.RawStdEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw),
		text, inJSON(value, true), ascii(text),
		strings.ReplaceAll(value, "\n", `\n`),
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return slices.Compact(all)
}

// inJSON returns the value within a JSON text. Go escapes what is special in HTML, unless it is
// told not to.
func inJSON(value string, escapeHTML bool) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(escapeHTML)
	// A string can be encoded, and a Builder does not fail.
	_ = encoder.Encode(value)
	return strings.TrimSuffix(strings.TrimPrefix(out.String(), `"`), "\"\n")
}

// ascii escapes the rest of a JSON text as Python does by default.
func ascii(text string) string {
	var out strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		if unit < utf8.RuneSelf {
			out.WriteByte(byte(unit))
		} else {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return out.String()
}
