package probe

import (
	"context"
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Background runs slow tasks, such as a login, so that a reconcile pass
// never waits for the network. It is a manager runnable.
type Background struct {
	Loop

	mu    sync.Mutex
	tasks map[types.NamespacedName]map[string]func(context.Context)
}

// NewBackground returns a Background that works for many resources
// concurrently, but runs only one task at a time for each of them.
func NewBackground() *Background {
	return &Background{Loop: NewLoop(workers), tasks: map[types.NamespacedName]map[string]func(context.Context){}}
}

// Do runs a task for a resource and then triggers a reconcile of the resource.
// It does nothing while a task with the same key is pending or running. The
// task must limit its own duration.
func (b *Background) Do(name types.NamespacedName, key string, task func(context.Context)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tasks[name] == nil {
		b.tasks[name] = map[string]func(context.Context){}
	}
	if b.tasks[name][key] == nil {
		b.tasks[name][key] = task
		b.Schedule(name, 0)
	}
}

// Forget drops the pending tasks of a resource.
func (b *Background) Forget(name types.NamespacedName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.tasks, name)
}

// Start runs the tasks until ctx ends.
func (b *Background) Start(ctx context.Context) error {
	b.Run(ctx, b.work)
	return nil
}

func (b *Background) work(ctx context.Context, name types.NamespacedName) {
	b.mu.Lock()
	waiting := maps.Clone(b.tasks[name])
	b.mu.Unlock()
	for key, task := range waiting {
		task(ctx)
		b.end(name, key)
		if ctx.Err() != nil || !b.Tell(ctx, name) {
			return
		}
	}
}

func (b *Background) end(name types.NamespacedName, key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.tasks[name], key)
	if len(b.tasks[name]) == 0 {
		delete(b.tasks, name)
	}
}
