package identity

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/c5c3/forge/internal/common/redact"
)

const (
	// Timeout bounds one request. Keystone answers within a second unless something is wrong.
	Timeout = 30 * time.Second
	// maxAnswer is the number of bytes that are read of an answer.
	maxAnswer = 4 << 20
	// maxMessage is the number of characters that are quoted of an error.
	maxMessage = 300

	tokenHeader   = "X-Auth-Token"    //nolint:gosec // The name of a header.
	subjectHeader = "X-Subject-Token" //nolint:gosec // The name of a header.
	// receiptHeader is in the answer to a correct password of a user who has to provide another
	// factor (https://docs.openstack.org/keystone/latest/admin/auth-receipts.html).
	receiptHeader = "Openstack-Auth-Receipt"
	// partHeader names what the API could not use. The operator's configuration of Keystone adds it.
	partHeader = "X-Forge-Failed-Part"
)

// Client talks to the Identity API at a URL, which includes the version.
type Client struct {
	HTTP *http.Client
	URL  string
}

// AnswerError is an answer that is not the expected one.
type AnswerError struct {
	Request string
	Code    int
	// Message is what the API says about it. It is empty if it could quote a secret.
	Message string
	// Part is what the API says that it could not use, such as its database.
	Part string
	// Receipt is set if the password was right and another factor is missing.
	Receipt bool
}

// Error says what was asked and what came back.
func (e *AnswerError) Error() string {
	text := fmt.Sprintf("%s: HTTP status %d", e.Request, e.Code)
	if e.Message != "" {
		text += ": " + e.Message
	}
	if e.Part != "" {
		text += "; it cannot use its " + e.Part
	}
	return text
}

// Answered reports whether the error is an answer with the status.
func Answered(err error, code int) bool {
	answer, isAnswer := errors.AsType[*AnswerError](err)
	return isAnswer && answer.Code == code
}

// request is what is sent and what is expected.
type request struct {
	method, path string
	// token of the user, and the one that the request is about.
	token, subject redact.Bytes
	body           any
	want           int
	// silent is set if the answer may quote a secret.
	silent bool
}

// do sends the request, decodes the answer into out unless that is nil, and returns its header.
func (c Client) do(ctx context.Context, r request, out any) (http.Header, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, Timeout, fmt.Errorf("no answer within %s", Timeout))
	defer cancel()
	address := strings.TrimRight(c.URL, "/") + r.path
	var body io.Reader
	if r.body != nil {
		encoded, err := json.Marshal(r.body)
		if err != nil {
			return nil, errors.New("the request cannot be written as JSON")
		}
		body = bytes.NewReader(encoded)
	}
	sent, err := http.NewRequestWithContext(ctx, r.method, address, body)
	if err != nil {
		return nil, fmt.Errorf("%q is no URL", address)
	}
	sent.Header.Set("Accept", "application/json")
	sent.Header.Set("Content-Type", "application/json")
	for header, token := range map[string]redact.Bytes{tokenHeader: r.token, subjectHeader: r.subject} {
		if len(token) > 0 {
			sent.Header.Set(header, string(token))
		}
	}
	response, err := c.HTTP.Do(sent)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.method, address, Plain(ctx, err))
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s %s: the answer breaks off: %w", r.method, address, Plain(ctx, err))
	case response.StatusCode != r.want:
		return nil, r.refused(address, response, answer)
	case out == nil:
		return response.Header, nil
	case json.Unmarshal(answer, out) != nil:
		return nil, fmt.Errorf("%s %s: the answer is not what the Identity API gives", r.method, address)
	}
	return response.Header, nil
}

// refused describes an answer with another status than the expected one.
func (r request) refused(address string, response *http.Response, answer []byte) error {
	refusal := &AnswerError{
		Request: r.method + " " + address, Code: response.StatusCode, Part: response.Header.Get(partHeader),
		Receipt: response.Header.Get(receiptHeader) != "",
	}
	var parsed struct{ Error struct{ Message string } }
	if !r.silent && json.Unmarshal(answer, &parsed) == nil {
		refusal.Message = shortened(parsed.Error.Message)
		for _, token := range []redact.Bytes{r.token, r.subject} {
			if len(token) > 0 {
				refusal.Message = strings.ReplaceAll(refusal.Message, string(token), token.String())
			}
		}
	}
	return refusal
}

func shortened(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > maxMessage {
		return string(runes[:maxMessage]) + "…"
	}
	return string(runes)
}

// Plain returns the cause of a failed request, without the URL, which the caller adds.
func Plain(ctx context.Context, err error) error {
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if sent, isRequest := errors.AsType[*url.Error](err); isRequest {
		return sent.Err
	}
	return err
}
