package probe

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// inBackground runs a Background in virtual time; told receives the resources
// that it announces.
func inBackground(t *testing.T, test func(t *testing.T, b *Background, told <-chan types.NamespacedName)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := NewBackground()
		ctx, stop := context.WithCancel(t.Context())
		ended, told := make(chan error, 1), make(chan types.NamespacedName, 1000)
		go func() { ended <- b.Start(ctx) }()
		go func() {
			for {
				select {
				case news := <-b.News():
					told <- types.NamespacedName{Namespace: news.Object.GetNamespace(), Name: news.Object.GetName()}
				case <-ctx.Done():
					return
				}
			}
		}()
		test(t, b, told)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestATaskIsDoneOnceAndThenItsResourceIsReconciled(t *testing.T) {
	inBackground(t, func(t *testing.T, b *Background, told <-chan types.NamespacedName) {
		done := 0
		task := func(context.Context) { <-time.After(time.Second); done++ }
		for range 3 {
			b.Do(name, "login", task)
		}
		b.Do(name, "revocation", task)
		for range 2 {
			if got := <-told; got != name {
				t.Errorf("told about %s, want %s", got, name)
			}
		}
		synctest.Wait()
		if done != 2 || len(told) > 0 {
			t.Errorf("%d tasks were done and told about %d times more, want 2 and none", done, len(told))
		}
		b.Do(name, "login", task)
		<-told
		if done != 3 || len(b.tasks) > 0 {
			t.Errorf("%d tasks were done and %d are left, want 3 and none", done, len(b.tasks))
		}
	})
}

func TestResourcesWhoseTasksHangDoNotDelayAnotherOne(t *testing.T) {
	inBackground(t, func(t *testing.T, b *Background, told <-chan types.NamespacedName) {
		for i := range 10 {
			silent := types.NamespacedName{Namespace: "silent", Name: string(rune('a' + i))}
			b.Do(silent, "login", func(ctx context.Context) { <-ctx.Done() })
		}
		start := time.Now()
		b.Do(name, "login", func(context.Context) {})
		if got := <-told; got != name || time.Since(start) > 0 {
			t.Errorf("told about %s after %s, want %s at once", got, time.Since(start), name)
		}
	})
}

func TestTasksOfAForgottenResourceAreNotBegun(t *testing.T) {
	inBackground(t, func(t *testing.T, b *Background, _ <-chan types.NamespacedName) {
		b.mu.Lock()
		b.tasks[name] = map[string]func(context.Context){"login": func(context.Context) { t.Error("it was begun") }}
		b.mu.Unlock()
		b.Forget(name)
		b.Schedule(name, 0)
		synctest.Wait()
	})
}
