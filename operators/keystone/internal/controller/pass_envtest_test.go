//go:build integration

package controller_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

func BenchmarkAPassOverAConvergedKeystone(b *testing.B) {
	namespace := env.Namespace(b)
	objects.Create(b, admin, modes[0].inputs(namespace)...)
	operator := testutil.Start(b, asOperator, namespace)
	k := modes[0].keystone(namespace, testutil.Name)
	objects.Create(b, admin, k)
	expect.Condition(b, admin, k, vocabulary.ConditionReady, metav1.ConditionTrue, vocabulary.ReasonAllReady)
	expect.Condition(b, admin, k, vocabulary.ConditionBackupHealthy, metav1.ConditionTrue, vocabulary.ReasonKeysBackedUp)
	b.ReportAllocs()
	for b.Loop() {
		if err := operator.Pass(b.Context(), client.ObjectKeyFromObject(k)); err != nil {
			b.Fatal(err)
		}
	}
}
