package schema

import (
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/service"
)

// Names of the schema tasks.
const (
	TaskSync     = "db-sync"
	TaskCheck    = "schema-check"
	TaskExpand   = "db-expand"
	TaskMigrate  = "db-migrate"
	TaskContract = "db-contract"
)

// annotationUpgradedFrom, on the Job after which the schema is that of the new release,
// records the release before the upgrade. On the one of [TaskSync] it marks an offline
// upgrade.
const annotationUpgradedFrom = "forge.c5c3.io/upgraded-from"

// annotationConnectionProof, on the Job that expanded the schema, records which
// connection its success verifies.
const annotationConnectionProof = "forge.c5c3.io/connection-proof"

// task returns a task that needs only the database. Its result depends on the image and
// the database, not on the rest of the configuration.
func (w *work) task(name string, retries int32, command []string) deployment.Task {
	secret, hash := w.access().TaskConnection()
	return deployment.Task{
		Name: name, Container: name, Command: command, Retries: retries,
		Env:         append(w.Database.Env(secret), w.Environment...),
		Mounts:      append([]deployment.Mount{deployment.ConfigMount(w.Pass)}, database.TLSMounts(w.Pass)...),
		Annotations: map[string]string{database.HashAnnotation(w.Definition): hash},
		RunKey:      []any{w.Spec.Image.Reference(), command, database.SpecAddress(w.Pass), w.Data.Database.Database},
	}
}

// Tasks returns all schema tasks by name. "login-check" and "reach-check" are those that
// only verify a connection.
func (s Schema) Tasks(p *service.Pass) map[string]deployment.Task {
	w := s.work(p)
	tasks := map[string]deployment.Task{
		TaskSync: w.syncTask(), TaskCheck: w.checkTask(), "login-check": w.loginTask(0), "reach-check": w.reachTask(),
		TaskExpand: w.expandTask(),
	}
	if s.Migrate != nil {
		tasks[TaskMigrate] = w.migrateTask()
	}
	if s.Contract != nil {
		tasks[TaskContract] = w.contractTask()
	}
	return tasks
}

func (w *work) syncTask() deployment.Task { return w.syncing(w.requiredMajor()) }

// syncing runs [Schema.Sync] with an image that has the major version.
func (w *work) syncing(major int) deployment.Task {
	sync := w.checkingImage(w.task(TaskSync, 4, w.Sync), major)
	sync.RunKey = w.OnRequest(w.Pass, sync.RunKey)
	if w.Status.InstalledRelease == "" && w.First != nil {
		w.First(w.Pass, &sync)
	}
	return sync
}

// checkTask also verifies a changed connection before any API pod gets it, so that a
// wrong password never replaces a running pod.
func (w *work) checkTask() deployment.Task {
	check := w.task(TaskCheck, 2, w.Check)
	check.RunKey = w.OnRequest(w.Pass, []any{check.RunKey, w.access().Proof()})
	return w.recheck.of(check)
}

// OnRequest adds the value of the annotation [Schema.RunAgain], with which a user
// requests another run, to the run key of a task.
func (s Schema) OnRequest(p *service.Pass, runKey any) any {
	if request := p.Resource.GetAnnotations()[s.RunAgain]; request != "" {
		return []any{runKey, request}
	}
	return runKey
}

// expandTask also verifies the connection that the pods of the new release get.
func (w *work) expandTask() deployment.Task {
	expand := w.checkingImage(w.task(TaskExpand, 4, w.Expand), w.promisedMajor())
	expand.JobAnnotations = map[string]string{annotationConnectionProof: w.access().Proof()}
	if w.Contract == nil {
		expand.JobAnnotations[annotationUpgradedFrom] = w.Status.InstalledRelease
	}
	return expand
}

func (w *work) migrateTask() deployment.Task { return w.task(TaskMigrate, 4, w.Migrate) }

func (w *work) contractTask() deployment.Task {
	contract := w.task(TaskContract, 4, w.Contract)
	contract.JobAnnotations = map[string]string{annotationUpgradedFrom: w.Status.InstalledRelease}
	return contract
}

// lastTask returns the task after which the schema is that of the new release.
func (w *work) lastTask() deployment.Task {
	if w.Contract == nil {
		return w.expandTask()
	}
	return w.contractTask()
}

// offlineTask brings the schema to the release of the image while no pod uses it.
func (w *work) offlineTask() deployment.Task {
	sync := w.syncing(w.promisedMajor())
	sync.JobAnnotations = map[string]string{annotationUpgradedFrom: w.Status.InstalledRelease}
	return sync
}

// reachTask verifies that the new image can be used with the database.
func (w *work) reachTask() deployment.Task {
	command := w.Reach
	if command == nil {
		command = w.Login
	}
	return w.checkingImage(w.task(TaskCheck, 2, command), w.promisedMajor())
}

// loginTask verifies a changed connection, or an image that has the major version, while the
// revision of the schema is not that of the image.
func (w *work) loginTask(major int) deployment.Task {
	check := w.checkingImage(w.task(TaskCheck, 2, w.Login), major)
	check.RunKey = []any{check.RunKey, w.access().Proof()}
	return w.recheck.of(check)
}
