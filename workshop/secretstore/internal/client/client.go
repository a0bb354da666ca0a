// Package client sends requests to a secret store that implements OpenBao's API.
package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// Client sends requests with a token.
type Client struct {
	// Address is the base URL.
	Address string
	// Token returns the token to send, if a request needs one.
	Token func() (string, error)
	HTTP  *http.Client
}

// Error is an unsuccessful response.
type Error struct {
	Status   int
	Messages []string
}

// Error implements error.
func (e *Error) Error() string {
	text := fmt.Sprintf("the store answered %d %s", e.Status, http.StatusText(e.Status))
	if len(e.Messages) > 0 {
		text += ": " + strings.Join(e.Messages, "; ")
	}
	return text
}

// FromEnvironment returns a client that is configured by the variables of
// OpenBao's own command line tool.
func FromEnvironment(token func() (string, error)) (*Client, error) {
	ca, err := os.ReadFile(os.Getenv("VAULT_CACERT"))
	if err != nil {
		return nil, fmt.Errorf("read the certificate authority named by VAULT_CACERT: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	certificate, err := tls.LoadX509KeyPair(os.Getenv("VAULT_CLIENT_CERT"), os.Getenv("VAULT_CLIENT_KEY"))
	if err != nil {
		return nil, fmt.Errorf("load what VAULT_CLIENT_CERT and VAULT_CLIENT_KEY name: %w", err)
	}
	config := &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	return &Client{
		Address: strings.TrimSuffix(os.Getenv("BAO_ADDR"), "/"),
		Token:   token,
		HTTP:    &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: config}},
	}, nil
}

// Do sends a request to a path below /v1/ and decodes the response into v, unless
// that is nil. An unsuccessful response is an *Error.
func (c *Client) Do(ctx context.Context, method, path string, body, v any) error {
	if c.Token == nil {
		return c.send(ctx, method, path, "", body, v)
	}
	token, err := c.Token()
	if err != nil {
		return err
	}
	return c.send(ctx, method, path, token, body, v)
}

// Open does the same without a token, for requests that work while the store is sealed.
func (c *Client) Open(ctx context.Context, method, path string, body, v any) error {
	return c.send(ctx, method, path, "", body, v)
}

func (c *Client) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		content = bytes.NewReader(encoded)
	}
	return http.NewRequestWithContext(ctx, method, c.Address+"/v1/"+path, content)
}

// errorOf returns the error in a response. One without messages is described by its status.
func errorOf(response *http.Response) error {
	var answer struct {
		Errors []string `json:"errors"`
	}
	_ = json.NewDecoder(response.Body).Decode(&answer)
	return &Error{Status: response.StatusCode, Messages: answer.Errors}
}

// send sends a request and decodes the response into v, unless that is nil.
func (c *Client) send(ctx context.Context, method, path, token string, body, v any) error {
	request, err := c.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	if token != "" {
		request.Header.Set("X-Vault-Token", token)
	}
	response, err := c.HTTP.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusMultipleChoices {
		return errorOf(response)
	}
	return decode(response, v)
}

// decode decodes a response into v, unless that is nil.
func decode(response *http.Response, v any) error {
	if v == nil || response.StatusCode == http.StatusNoContent {
		return nil
	}
	if err := json.NewDecoder(response.Body).Decode(v); err != nil {
		return fmt.Errorf("decode the answer: %w", err)
	}
	return nil
}

// IsStatus reports whether an error is a response with the status.
func IsStatus(err error, status int) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == status
}
