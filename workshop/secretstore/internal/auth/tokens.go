// Package auth issues and checks tokens.
package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"sync"
	"time"

	"github.com/c5c3/forge/workshop/secretstore/internal/policy"
)

// Token describes a token. Its text is not part of it.
type Token struct {
	Accessor    string
	DisplayName string
	Path        string
	Policies    []string
	// Login is the accessor of the login that issued the token.
	Login       string
	Metadata    map[string]string
	CreatedTime time.Time
	CreationTTL time.Duration
	// ExpireTime is zero for tokens that stay valid.
	ExpireTime time.Time
}

// TTL returns how long the token is still valid, 0 for unlimited.
func (t Token) TTL(now time.Time) time.Duration {
	if t.ExpireTime.IsZero() {
		return 0
	}
	return t.ExpireTime.Sub(now)
}

// Tokens holds the valid tokens, in memory only: a restart invalidates all but the
// root token, which clients have to expect of any token.
type Tokens struct {
	mu     sync.Mutex
	root   [sha256.Size]byte
	issued map[[sha256.Size]byte]Token
	now    func() time.Time
}

// NewTokens returns a set of tokens that holds the root token, or none for "".
func NewTokens(root string, now func() time.Time) *Tokens {
	t := &Tokens{issued: map[[sha256.Size]byte]Token{}, now: now}
	t.SetRoot(root)
	return t
}

// SetRoot replaces the root token.
func (s *Tokens) SetRoot(root string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.root = sha256.Sum256([]byte(root))
}

// Issue returns the text of a new token that is valid for ttl. Of t only the
// name, path, policies and metadata are used.
func (s *Tokens) Issue(t Token, ttl time.Duration) (string, Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := "s." + rand.Text()
	t.Accessor = rand.Text()
	t.CreatedTime = s.now()
	t.CreationTTL = ttl
	t.ExpireTime = t.CreatedTime.Add(ttl)
	for hash, issued := range s.issued {
		if issued.ExpireTime.Before(t.CreatedTime) {
			delete(s.issued, hash)
		}
	}
	s.issued[sha256.Sum256([]byte(text))] = t
	return text, t
}

// Lookup returns the description of a token, and whether it is valid.
func (s *Tokens) Lookup(text string) (Token, bool) {
	hash := sha256.Sum256([]byte(text))
	s.mu.Lock()
	defer s.mu.Unlock()
	if text == "" {
		return Token{}, false
	}
	if subtle.ConstantTimeCompare(hash[:], s.root[:]) == 1 {
		return Token{DisplayName: "root", Path: "auth/token/root", Policies: []string{policy.Root}}, true
	}
	t, ok := s.issued[hash]
	if !ok || !s.now().Before(t.ExpireTime) {
		return Token{}, false
	}
	return t, true
}

// Revoke invalidates a token.
func (s *Tokens) Revoke(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.issued, sha256.Sum256([]byte(text)))
}
