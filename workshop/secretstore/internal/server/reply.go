package server

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/c5c3/forge/workshop/secretstore/internal/kv"
)

// reply is a response: a body, or nothing with status 204.
type reply struct {
	status int
	body   any
}

// write writes the reply as JSON. Secrets must not be cached on the way.
func (r reply) write(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", "no-store")
	if r.body == nil {
		w.WriteHeader(r.status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(r.status)
	// It is not an error of the store if the client has disconnected.
	_ = json.NewEncoder(w).Encode(r.body)
}

// envelope is OpenBao's wrapper around the data of a response.
type envelope struct {
	RequestID     string   `json:"request_id"`
	LeaseID       string   `json:"lease_id"`
	Renewable     bool     `json:"renewable"`
	LeaseDuration int      `json:"lease_duration"`
	Data          any      `json:"data"`
	WrapInfo      any      `json:"wrap_info"`
	Warnings      []string `json:"warnings"`
	Auth          any      `json:"auth"`
}

func withData(data any) reply { return reply{status: http.StatusOK, body: envelope{Data: data}} }

func noContent() reply { return reply{status: http.StatusNoContent} }

// failure is an error with the status and the messages of the response.
type failure struct {
	status   int
	messages []string
	// data is part of some responses with status 404.
	data any
}

func fail(status int, messages ...string) error { return &failure{status: status, messages: messages} }

// Error implements error.
func (f *failure) Error() string { return http.StatusText(f.status) }

// errorReply maps an error to the status and the body that OpenBao would send.
func errorReply(err error) reply {
	var f *failure
	switch {
	case errors.As(err, &f):
	case errors.Is(err, kv.ErrNotFound):
		f = &failure{status: http.StatusNotFound}
	case errors.Is(err, kv.ErrCheckAndSet), errors.Is(err, kv.ErrCheckAndSetRequired):
		f = &failure{status: http.StatusBadRequest, messages: []string{err.Error()}}
	default:
		f = &failure{status: http.StatusInternalServerError, messages: []string{err.Error()}}
	}
	if f.data != nil {
		return reply{status: f.status, body: envelope{Data: f.data}}
	}
	messages := f.messages
	if messages == nil {
		messages = []string{}
	}
	return reply{status: f.status, body: map[string][]string{"errors": messages}}
}

// timeText is empty for the zero time.
func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
