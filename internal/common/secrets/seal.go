package secrets

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// WrittenAnnotation on a Secret that the operator both writes and reads back is a hash of
// the data that it has written. Data that somebody else has changed does not fit it.
const WrittenAnnotation = "forge.c5c3.io/written-data"

// Sign records on the Secret that the operator writes its data for owner.
func Sign(owner client.Object, secret *corev1.Secret) {
	metav1.SetMetaDataAnnotation(&secret.ObjectMeta, WrittenAnnotation, hashOfData(owner.GetUID(), secret.Data))
}

// IsSigned reports whether the Secret has the annotation, whatever its data are. Those of
// an earlier operator do not.
func IsSigned(secret *corev1.Secret) bool { return secret.Annotations[WrittenAnnotation] != "" }

// IsWritten reports whether the Secret has the data that the operator has written for
// owner.
func IsWritten(owner client.Object, secret *corev1.Secret) bool {
	return secret.Annotations[WrittenAnnotation] == hashOfData(owner.GetUID(), secret.Data)
}

// hashOfData returns a short hash of a Secret's data.
func hashOfData(key types.UID, data map[string][]byte) string {
	hash := hmac.New(sha256.New, []byte(key))
	for _, name := range slices.Sorted(maps.Keys(data)) {
		// Writing to a hash cannot fail.
		_, _ = fmt.Fprintf(hash, "%d:%s=%d:%s\n", len(name), name, len(data[name]), data[name])
	}
	return hex.EncodeToString(hash.Sum(nil)[:8])
}
