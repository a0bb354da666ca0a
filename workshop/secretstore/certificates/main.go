// Command certificates generates a certificate authority and certificates signed by
// it, and prints them as Kubernetes Secrets. The authority's key is discarded,
// so all of them are generated together.
//
// It reads a JSON description from standard input:
//
//	{
//	  "commonName": "the authority's name",
//	  "secrets": [
//	    {"namespace": "a", "name": "b", "commonName": "c", "dnsNames": ["d"], "ipAddresses": ["127.0.0.1"]}
//	  ]
//	}
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/c5c3/forge/workshop/secretstore/internal/pki"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// description is the input: what to generate.
type description struct {
	CommonName string       `json:"commonName"`
	Secrets    []secretSpec `json:"secrets"`
}

// secretSpec describes one certificate and the Secret that holds it.
type secretSpec struct {
	pki.Subject

	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

type object map[string]any

// run reads the description of an authority and its certificates, and writes the Secrets.
func run(in io.Reader, out io.Writer) error {
	decoder := json.NewDecoder(in)
	decoder.DisallowUnknownFields()
	var wanted description
	if err := decoder.Decode(&wanted); err != nil {
		return fmt.Errorf("parse the description: %w", err)
	}
	if len(wanted.Secrets) == 0 {
		return errors.New("the description names no secret")
	}
	ca, err := pki.NewAuthority(wanted.CommonName, time.Now())
	if err != nil {
		return err
	}
	items := make([]object, 0, len(wanted.Secrets))
	for _, spec := range wanted.Secrets {
		certificate, key, err := ca.Issue(spec.Subject)
		if err != nil {
			return fmt.Errorf("make the certificate %s/%s: %w", spec.Namespace, spec.Name, err)
		}
		items = append(items, object{
			"apiVersion": "v1",
			"kind":       "Secret",
			"type":       "kubernetes.io/tls",
			"metadata":   object{"namespace": spec.Namespace, "name": spec.Name},
			"stringData": object{"ca.crt": ca.PEM, "tls.crt": certificate, "tls.key": key},
		})
	}
	return json.NewEncoder(out).Encode(object{"apiVersion": "v1", "kind": "List", "items": items})
}
