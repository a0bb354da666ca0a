package types

import (
	"regexp"
	"strings"
)

// imageDigest is the pattern of [ImageSpec.Digest].
var imageDigest = regexp.MustCompile(`^sha256:[a-f0-9]{64}$`)

// IsDigest reports whether the value has the form of an image's digest.
func IsDigest(value string) bool { return imageDigest.MatchString(value) }

// TagOf returns the tag of an image reference, "" if it has none. A digest is left out.
func TagOf(reference string) string {
	reference, _, _ = strings.Cut(reference, "@")
	colon := strings.LastIndex(reference, ":")
	if colon < 0 || strings.Contains(reference[colon:], "/") {
		return ""
	}
	return reference[colon+1:]
}

// DigestOf returns the digest of an image reference, "" if it has none.
func DigestOf(reference string) string {
	_, digest, _ := strings.Cut(reference, "@")
	return digest
}

// ImageOf returns what was found in the last image with that tag, nil if nobody has looked
// into one.
func (s *ServiceStatus) ImageOf(tag string) *ImageStatus {
	for i := len(s.Images) - 1; tag != "" && i >= 0; i-- {
		if TagOf(s.Images[i].Reference) == tag {
			return &s.Images[i]
		}
	}
	return nil
}
