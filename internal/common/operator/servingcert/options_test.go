package servingcert

import (
	"testing"
)

func TestIncompleteOptionsAreRejected(t *testing.T) {
	complete := Options{Namespace: "n", SecretName: "s", ServiceName: "s", MutatingName: "m", ValidatingName: "v"}
	if err := complete.complete(); err != nil {
		t.Fatalf("complete options are refused: %v", err)
	}
	if complete.Validity != DefaultValidity || complete.Settle != DefaultSettle {
		t.Errorf("validity %s and settle time %s are not the defaults", complete.Validity, complete.Settle)
	}
	incomplete := complete
	incomplete.ServiceName = ""
	if err := incomplete.complete(); err == nil {
		t.Error("options without a Service are accepted")
	}
}
