package controller

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/operators/keystone/internal/testutil/fixture"
)

func TestBootstrapCanSetThePasswordOfALockedAdministrator(t *testing.T) {
	env := bootstrapTask(fixture.Scope(fixture.Minimal())).Env
	at := slices.IndexFunc(env, func(v corev1.EnvVar) bool { return v.Name == "OS_SECURITY_COMPLIANCE__LOCKOUT_FAILURE_ATTEMPTS" })
	if at < 0 || env[at].Value != "" || env[at].ValueFrom != nil {
		t.Errorf("the option that locks accounts is not unset: %v", env)
	}
}

// test_forge_start.py tests that they do not count where the variable is, and nowhere else.
func TestBootstrapLoginAttemptsDoNotCountTowardsTheLockout(t *testing.T) {
	s := fixture.Scope(fixture.Installed(fixture.Minimal()))
	if want := "\nif \"" + bootstrapVariable + "\" in os.environ:\n"; strings.Count(filesOf(t, s.Resource)[startFile], want) != 1 {
		t.Errorf("%s does not say %q", startFile, want)
	}
	for name, template := range keystonesCode(t, s) {
		has := slices.ContainsFunc(template.Spec.Containers[0].Env, func(v corev1.EnvVar) bool { return v.Name == bootstrapVariable })
		if bootstrap := name == "bootstrap"; has != bootstrap {
			t.Errorf("%s has the variable by which bootstrap is known: %t", name, has)
		}
	}
}

func TestARefusedPasswordIsDistinguishedFromOtherBootstrapFailures(t *testing.T) {
	for text, want := range map[string]bool{
		"keystone.exception.PasswordRequirementsValidationError: The password does not match the requirements: any.": true,
		"keystone.exception.PasswordHistoryValidationError: The new password cannot be identical.":                   true,
		"keystone.exception.PasswordValidationError: Password validation error: invalid configuration.":              true,
		"(1045, \"Access denied for user 'keystone'\")":                                                              false,
		"": false,
	} {
		failed := fmt.Errorf("bootstrap: %w", &job.FailedError{Job: "keystone-bootstrap", Text: text})
		if refusesPassword(job.State{}, failed) != want || refusesPassword(job.State{Waiting: text}, nil) != want {
			t.Errorf("%q: want %t", text, want)
		}
	}
	if refusesPassword(job.State{}, errors.New("PasswordValidationError in the API server's answer")) {
		t.Error("an error that is not of the Job counts")
	}
}
