package backup

import (
	"bytes"
	"compress/gzip"
	"crypto/sha1" //nolint:gosec // Keystone marks credentials with the SHA-1 of their key.
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"filippo.io/age"

	"github.com/c5c3/forge/internal/common/cluster"
)

// bundle is what a backup holds in addition to the databases. It is in one of them, so that
// each dump has the keys of the same moment.
type bundle struct {
	// Cluster, Namespace and Name identify the control plane.
	Cluster   string `json:"cluster,omitempty"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Release is the OpenStack release of Keystone, with the suffix of its image tag.
	Release string `json:"release"`
	// TokenKeys and CredentialKeys are the data of Keystone's key Secrets.
	TokenKeys      keySet `json:"tokenKeys"`
	CredentialKeys keySet `json:"credentialKeys"`
	// ServiceKeys are the data of the key Secrets of other services, by the Secrets' names.
	ServiceKeys map[string]keySet `json:"serviceKeys,omitempty"`
}

// keySet is the data of a key Secret. JSON encodes its texts as they are, and bytes in base64,
// which is longer.
type keySet map[string]string

func keySetOf(data map[string][]byte) keySet {
	keys := make(keySet, len(data))
	for name, key := range data {
		keys[name] = string(key)
	}
	return keys
}

func (k keySet) data() map[string][]byte {
	data := make(map[string][]byte, len(k))
	for name, key := range k {
		data[name] = []byte(key)
	}
	return data
}

// maxSealed is the size up to which a restore can read a bundle, in characters. 100 keys of
// each kind, the most that a Keystone can have, need about 10000.
const maxSealed = 12000

// path names the control plane. Example: "east/openstack/controlplane".
func (b bundle) path() string {
	return cluster.Settings{Name: b.Cluster}.StorePath(b.Namespace, b.Name)
}

// digest identifies the bundle and who can read it.
func (b bundle) digest(readers []age.Recipient) (string, error) {
	encoded, err := json.Marshal(b)
	if err != nil {
		return "", fmt.Errorf("encoding the keys: %w", err)
	}
	for _, reader := range readers {
		encoded = fmt.Append(encoded, reader)
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:]), nil
}

// keyHashes returns with what Keystone marks the credentials that the keys can read.
func (b bundle) keyHashes() []string {
	hashes := make([]string, 0, len(b.CredentialKeys))
	for _, name := range slices.Sorted(maps.Keys(b.CredentialKeys)) {
		sum := sha1.Sum([]byte(strings.TrimSpace(b.CredentialKeys[name]))) //nolint:gosec // See the import.
		hashes = append(hashes, hex.EncodeToString(sum[:]))
	}
	return hashes
}

// seal encrypts the bundle for the readers. The result is base64.
func (b bundle) seal(readers []age.Recipient) (string, error) {
	var sealed bytes.Buffer
	encrypted, err := age.Encrypt(&sealed, readers...)
	if err != nil {
		return "", fmt.Errorf("encrypting the keys: %w", err)
	}
	compressed := gzip.NewWriter(encrypted)
	err = errors.Join(json.NewEncoder(compressed).Encode(b), compressed.Close(), encrypted.Close())
	if err != nil {
		return "", fmt.Errorf("encrypting the keys: %w", err)
	}
	text := base64.StdEncoding.EncodeToString(sealed.Bytes())
	if len(text) > maxSealed {
		return "", fmt.Errorf(
			"the encrypted keys have %d characters, and a restore can read %d: use an age key of another type", len(text), maxSealed)
	}
	return text, nil
}

// errSealed is the error of a bundle that the identities do not open.
var errSealed = errors.New("the encryption key does not open the keys in the backup")

// open decrypts what seal has made.
func open(text string, identities []age.Identity) (bundle, error) {
	sealed, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return bundle{}, fmt.Errorf("reading the keys in the backup: %w", err)
	}
	decrypted, err := age.Decrypt(bytes.NewReader(sealed), identities...)
	if err != nil {
		return bundle{}, errSealed
	}
	compressed, err := gzip.NewReader(decrypted)
	if err != nil {
		return bundle{}, fmt.Errorf("reading the keys in the backup: %w", err)
	}
	var opened bundle
	if err := json.NewDecoder(io.LimitReader(compressed, 1<<20)).Decode(&opened); err != nil {
		return bundle{}, fmt.Errorf("reading the keys in the backup: %w", err)
	}
	return opened, nil
}

// errEncryptionKey is the error of a text that is no age key. Those of the parser may quote it.
var errEncryptionKey = errors.New(`it is neither an age recipient ("age1…") nor an age identity ("AGE-SECRET-KEY-1…")`)

// readers returns who can read what is encrypted with the key: age recipients, or the
// identities themselves.
func readers(key []byte) ([]age.Recipient, error) {
	if recipients, err := age.ParseRecipients(bytes.NewReader(key)); err == nil {
		return recipients, nil
	}
	identities, err := age.ParseIdentities(bytes.NewReader(key))
	if err != nil {
		return nil, errEncryptionKey
	}
	var recipients []age.Recipient
	for _, identity := range identities {
		switch identity := identity.(type) {
		case *age.X25519Identity:
			recipients = append(recipients, identity.Recipient())
		case *age.HybridIdentity:
			recipients = append(recipients, identity.Recipient())
		default:
			return nil, errEncryptionKey
		}
	}
	return recipients, nil
}
