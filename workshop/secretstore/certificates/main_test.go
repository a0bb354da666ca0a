package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"strings"
	"testing"
)

type list struct {
	Items []struct {
		Metadata struct {
			Namespace, Name string
		} `json:"metadata"`
		Type string            `json:"type"`
		Data map[string]string `json:"stringData"`
	} `json:"items"`
}

func makeAll(t *testing.T, description string) list {
	t.Helper()
	var out bytes.Buffer
	if err := run(strings.NewReader(description), &out); err != nil {
		t.Fatal(err)
	}
	var got list
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestAllCertificatesAreSignedByTheSameCA(t *testing.T) {
	got := makeAll(t, `{"commonName": "ca", "secrets": [
		{"namespace": "ns", "name": "server", "commonName": "s", "dnsNames": ["a.b"], "ipAddresses": ["127.0.0.1"]},
		{"namespace": "ns", "name": "client", "commonName": "c"}]}`)
	if len(got.Items) != 2 {
		t.Fatalf("got %d Secrets", len(got.Items))
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(got.Items[0].Data["ca.crt"]))
	for i, use := range []x509.VerifyOptions{
		{Roots: pool, DNSName: "a.b", KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}},
		{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}},
	} {
		secret := got.Items[i]
		pair, err := tls.X509KeyPair([]byte(secret.Data["tls.crt"]), []byte(secret.Data["tls.key"]))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pair.Leaf.Verify(use); err != nil {
			t.Errorf("%s: %v", secret.Metadata.Name, err)
		}
		if secret.Type != "kubernetes.io/tls" || secret.Metadata.Namespace != "ns" {
			t.Errorf("%+v", secret.Metadata)
		}
	}
	if err := func() error {
		pair, _ := tls.X509KeyPair([]byte(got.Items[0].Data["tls.crt"]), []byte(got.Items[0].Data["tls.key"]))
		return pair.Leaf.VerifyHostname("127.0.0.1")
	}(); err != nil {
		t.Error(err)
	}
}

func TestAMistakeInTheDescriptionIsReported(t *testing.T) {
	for _, description := range []string{
		"", "{}", `{"secrets": [{"dnsName": "a"}]}`, `{"secrets": [{"name": "a", "ipAddresses": ["x"]}]}`,
	} {
		if err := run(strings.NewReader(description), &bytes.Buffer{}); err == nil {
			t.Errorf("%q is accepted", description)
		}
	}
}
