package types

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func FuzzImageReference(f *testing.F) {
	for _, image := range []struct{ Repository, Tag string }{
		{"ghcr.io/c5c3/keystone", "2025.2"},
		{"localhost:5000/a_b/c__d/e--f", "latest"},
		{"[fd00::1]:5000/keystone", "2025.2-upgraded"},
		{"keystone:tag", "x"},
		{"keystone@sha256", "abc"},
		{"UPPER/case", "_"},
		{"a/../b", ".."},
		{"a//b", "-"},
		{"a b", "a\nb"},
		{"", ""},
	} {
		f.Add(image.Repository, image.Tag)
	}
	f.Fuzz(func(t *testing.T, repository, tag string) {
		image := ImageSpec{Repository: repository, Tag: tag}
		if len(ValidateImage(image, "harbour", field.NewPath("image"))) > 0 {
			return
		}
		// A container runtime parses the reference back into the same parts: the tag is
		// what follows the last colon after the last slash.
		reference := image.Reference()
		name := reference[strings.LastIndex(reference, "/")+1:]
		if got := name[strings.LastIndex(name, ":")+1:]; got != tag || strings.Count(name, ":") != 1 {
			t.Errorf("%q has the tag %q, want %q", reference, got, tag)
		}
		if strings.ContainsAny(reference, "@ \t\n\"'\\$`") || strings.Contains(reference, "//") || strings.Contains(repository, "..") {
			t.Errorf("%q is no image reference", reference)
		}
	})
}

func FuzzDatabaseHost(f *testing.F) {
	for _, host := range []string{
		"db.example.com", "192.0.2.1", "2001:db8::1", "[::1]", "db:3306", "a@b", "a/b", "a?b", "fe80::1%eth0", "-a", "",
	} {
		f.Add(host)
	}
	f.Fuzz(func(t *testing.T, host string) {
		db := DatabaseSpec{Host: host, Database: "keystone", SecretRef: SecretRefSpec{Name: "db"}}
		if len(ValidateDatabase(db, "harbour", field.NewPath("database"))) == 0 && strings.ContainsAny(host, "@/?#%[] \t\n\\") {
			t.Errorf("%q would end the host in a database URL", host)
		}
	})
}
