//go:build integration

package controller_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

const (
	ldapSecret = "keystone-ldap"
	// firstOptions and secondOptions are what users keep in the Secret.
	firstOptions  = "# from the directory's owner\n[ldap]\npassword = hunter2-first\n"
	secondOptions = "[ldap]\npassword = hunter2-second\n"
)

func optionsSecret(namespace, content string) *corev1.Secret {
	return secret(namespace, ldapSecret, map[string]string{"keystone.conf": content})
}

func withSecretOptions(namespace, content string) []client.Object {
	return append(testutil.Secrets(namespace), optionsSecret(namespace, content))
}

func setOptions(t *testing.T, c client.Client, namespace, content string) {
	t.Helper()
	objects.Change(t, c, secret(namespace, ldapSecret, nil), func(s *corev1.Secret) {
		s.StringData = map[string]string{"keystone.conf": content}
	})
}

func startWithSecretOptions(t *testing.T, content string) (client.Client, *keystonev1alpha1.Keystone, *testutil.Operator) {
	t.Helper()
	c, namespace := newNamespace(t, func(namespace string) []client.Object { return withSecretOptions(namespace, content) })
	operator := testutil.Start(t, asOperator, namespace)
	k := testutil.Brownfield(namespace, testutil.Name)
	k.Spec.ExtraConfigSecretRef = &commonv1.SecretRefSpec{Name: ldapSecret}
	objects.Create(t, c, k)
	return c, k, operator
}

// givenOptions returns the Secret from which the API pods read the options, nil if there
// is none.
func givenOptions(ctx context.Context, c client.Client, k *keystonev1alpha1.Keystone) (*corev1.Secret, error) {
	deploy := deploymentOf(k)
	if err := c.Get(ctx, client.ObjectKeyFromObject(deploy), deploy); err != nil {
		return nil, err
	}
	for _, volume := range deploy.Spec.Template.Spec.Volumes {
		if volume.Name != "config" || volume.Projected == nil {
			continue
		}
		for _, source := range volume.Projected.Sources {
			if source.Secret != nil {
				given := secret(k.Namespace, source.Secret.Name, nil)
				return given, c.Get(ctx, client.ObjectKeyFromObject(given), given)
			}
		}
	}
	return nil, nil
}

// expectOptions waits until the pods have the option and returns the Secret that contains
// it.
func expectOptions(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, option string) *corev1.Secret {
	t.Helper()
	var given *corev1.Secret
	expect.Eventually(t, "pods with "+option, func(ctx context.Context) (err error) {
		given, err = givenOptions(ctx, c, k)
		switch {
		case err != nil:
			return err
		case given == nil:
			return errors.New("they have no options of a Secret")
		case !strings.Contains(string(given.Data["secret.conf"]), option):
			return fmt.Errorf("they have %q", given.Data)
		}
		return nil
	})
	return given
}

func optionsCopies(t *testing.T, c client.Client, namespace string) []string {
	t.Helper()
	var list corev1.SecretList
	copies := client.MatchingLabels{"forge.c5c3.io/config-base": "keystone-extra-config"}
	err := c.List(t.Context(), &list, client.InNamespace(namespace), copies)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, 0, len(list.Items))
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

func TestSecretOptionsAndTheirChangesReachThePods(t *testing.T) {
	t.Parallel()
	c, k, operator := startWithSecretOptions(t, firstOptions)
	ready(t, c, k)
	first := expectOptions(t, c, k, "password = hunter2-first")
	if !metav1.IsControlledBy(first, k) || first.Immutable == nil || !*first.Immutable {
		t.Errorf("the pods' Secret is %+v, expected an immutable one of the Keystone", first.ObjectMeta)
	}
	settle(t, c, k, operator)
	setOptions(t, c, k.Namespace, secondOptions)
	second := expectOptions(t, c, k, "password = hunter2-second")
	ready(t, c, k)
	if first.Name == second.Name {
		t.Error("other options have the same name, so that the pods are not replaced")
	}
	if got := len(jobs.Runs(k.Namespace, "keystone-config-check")); got != 2 {
		t.Errorf("the options were checked %d times, expected twice", got)
	}
	setOptions(t, c, k.Namespace, "[ldap]\npassword = hunter2-third\n")
	third := expectOptions(t, c, k, "password = hunter2-third")
	ready(t, c, k)
	settle(t, c, k, operator)
	if got := optionsCopies(t, c, k.Namespace); len(got) != 2 || !slices.Contains(got, second.Name) || !slices.Contains(got, third.Name) {
		t.Errorf("the copies are %v, expected the one in use and the one before", got)
	}
	expectHidden(t, c, k, operator, "hunter2")
	objects.Change(t, c, k, func(k *keystonev1alpha1.Keystone) { k.Spec.ExtraConfigSecretRef = nil })
	ready(t, c, k)
	settle(t, c, k, operator)
	if given, err := givenOptions(t.Context(), c, k); given != nil || err != nil {
		t.Errorf("the pods have %v, error %v, although the spec names no Secret", given, err)
	}
	if got := optionsCopies(t, c, k.Namespace); len(got) != 0 {
		t.Errorf("the copies %v are left", got)
	}
}

// expectHidden fails if the text is in a ConfigMap, workload, log, condition or event.
func expectHidden(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, operator *testutil.Operator, text string) {
	t.Helper()
	lists := []client.ObjectList{&corev1.ConfigMapList{}, &appsv1.DeploymentList{}, &batchv1.JobList{}, &batchv1.CronJobList{}}
	for _, list := range lists {
		if err := c.List(t.Context(), list, client.InNamespace(k.Namespace)); err != nil {
			t.Fatal(err)
		}
		shown, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(shown), text) {
			t.Errorf("a %T shows %q", list, text)
		}
	}
	if strings.Contains(operator.Log(), text) || strings.Contains(expect.State(t, c, k), text) {
		t.Errorf("the log or the status shows %q", text)
	}
}

func TestOptionsOfASecretThatAreNotUsableNeverReachThePods(t *testing.T) {
	t.Parallel()
	c, k, operator := startWithSecretOptions(t, firstOptions)
	for name, tc := range map[string]struct {
		content string
		says    []string
		outcome standin.Outcome
	}{
		"the lifetime of tokens": {
			"[token]\nexpiration = 7777777\n",
			[]string{"Secret keystone-ldap", "remove [token] expiration", "spec.extraConfig"},
			standin.Succeed(),
		},
		"an option of the operator": {
			"[TOKEN]\nprovider = 7777777\n",
			[]string{"Secret keystone-ldap", "remove [token] provider"},
			standin.Succeed(),
		},
		"no options at all": {
			"7777777",
			[]string{"Secret keystone-ldap", "keystone.conf", "line 1", "[section]"},
			standin.Succeed(),
		},
		"one section in two spellings": {
			"[ldap]\nuser = 7777777\n[LDAP]\nuser = 7777777\n",
			[]string{"Secret keystone-ldap", "upper and lower case"},
			standin.Succeed(),
		},
		"what the image cannot read": {
			"[ldap]\npage_size = 7777777\n",
			[]string{"spec.extraConfigSecretRef", "not an integer"},
			standin.Fail("not an integer"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			setOptions(t, c, k.Namespace, firstOptions)
			before := expectOptions(t, c, k, "hunter2-first")
			ready(t, c, k)
			jobs.Set(k.Namespace, "keystone-config-check", tc.outcome)
			setOptions(t, c, k.Namespace, tc.content)
			expect.Condition(t, c, k, "SecretsReady", metav1.ConditionFalse, "ConfigError", tc.says...)
			if given := expectOptions(t, c, k, "hunter2-first"); given.UID != before.UID {
				t.Error("the pods were replaced")
			}
			expectHidden(t, c, k, operator, "7777777")
			jobs.Set(k.Namespace, "keystone-config-check", standin.Succeed())
			setOptions(t, c, k.Namespace, secondOptions)
			expectOptions(t, c, k, "hunter2-second")
			ready(t, c, k)
		})
	}
}
