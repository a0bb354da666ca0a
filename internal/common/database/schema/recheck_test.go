package schema

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

var checkedAt = metav1.Unix(1_800_000_000, 0)

// checked is an instance in a managed database whose schema was checked at checkedAt. Its
// API pods are available.
func checked(t *testing.T) *work {
	t.Helper()
	h := instance.Brownfield()
	h.Spec.Database.Host, h.Spec.Database.ClusterRef = "", &corev1.LocalObjectReference{Name: "mariadb"}
	h.Status.InstalledRelease = "2025.2"
	api := &appsv1.Deployment{ObjectMeta: ofHarbour(h, h.Name, -time.Hour)}
	api.Spec.Template.Spec.Containers = []corev1.Container{{Name: "harbour", Image: h.Spec.Image.Reference()}}
	api.Status.AvailableReplicas = 1
	s := full
	s.RunAgain = "example.com/run-again"
	w := s.work(instance.Pass(t, h, interceptor.Funcs{Patch: patchExisting}, createdObjects(h, -2*time.Hour)...))
	if err := w.Client.Create(t.Context(), api); err != nil {
		t.Fatal(err)
	}
	w.Jobs.Events, w.Jobs.Now = w.Client, w.Now
	w.setClock(0)
	if outcome := w.pass(t); outcome.Reason() != vocabulary.ReasonDBSyncInProgress {
		t.Fatalf("got %s: %s", outcome.Reason(), outcome.Message())
	}
	completeJobs(t, w)
	if outcome := w.pass(t); outcome.Reason() != vocabulary.ReasonSchemaCheckInProgress {
		t.Fatalf("got %s: %s", outcome.Reason(), outcome.Message())
	}
	w.finishCheck(t, batchv1.JobComplete)
	if outcome := w.pass(t); !outcome.IsDone() {
		t.Fatalf("got %s: %s", outcome.Reason(), outcome.Message())
	}
	return w
}

// patchExisting leaves a Database that is being deleted as it is. The fake API server would
// take such a patch for a change of the deletion.
func patchExisting(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, o ...client.PatchOption) error {
	live := &mariadbv1alpha1.Database{}
	err := c.Get(ctx, client.ObjectKeyFromObject(obj), live)
	if wanted, ok := obj.(*mariadbv1alpha1.Database); ok && err == nil && live.DeletionTimestamp != nil {
		live.DeepCopyInto(wanted)
		return nil
	}
	return c.Patch(ctx, obj, patch, o...)
}

func ofHarbour(h *instance.Harbour, name string, age time.Duration) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: h.Namespace, Name: name, UID: types.UID(name + age.String()), CreationTimestamp: metav1.NewTime(checkedAt.Add(age)),
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(h, instance.Kind)},
	}
}

// createdObjects returns the MariaDB and what mariadb-operator has created in it.
func createdObjects(h *instance.Harbour, age time.Duration) []client.Object {
	ready := []metav1.Condition{{Type: mariadbv1alpha1.ConditionTypeReady, Status: metav1.ConditionTrue}}
	server := &mariadbv1alpha1.MariaDB{ObjectMeta: metav1.ObjectMeta{Namespace: h.Namespace, Name: "mariadb"}}
	server.Status.Conditions = ready
	user, grant := &mariadbv1alpha1.User{ObjectMeta: ofHarbour(h, h.Name, age)}, &mariadbv1alpha1.Grant{ObjectMeta: ofHarbour(h, h.Name, age)}
	user.Status.Conditions, grant.Status.Conditions = ready, ready
	return []client.Object{server, user, grant, createdDatabase(h, age)}
}

func createdDatabase(h *instance.Harbour, age time.Duration) *mariadbv1alpha1.Database {
	created := &mariadbv1alpha1.Database{ObjectMeta: ofHarbour(h, h.Name, age)}
	created.Status.Conditions = []metav1.Condition{{Type: mariadbv1alpha1.ConditionTypeReady, Status: metav1.ConditionTrue}}
	return created
}

// setClock sets the time of later passes, after checkedAt.
func (w *work) setClock(after time.Duration) {
	w.Clock = func() time.Time { return checkedAt.Add(after) }
}

// pass returns the outcome of a new pass.
func (w *work) pass(t *testing.T) reconcile.Outcome {
	t.Helper()
	w.Slots = &reconcile.Slots{}
	database.CredentialsOf.Put(w.Slots, database.Credentials{User: "harbour", Password: []byte("secret")})
	if outcome := w.Database.ReconcileConnection(t.Context(), w.Pass); !outcome.IsDone() {
		t.Fatalf("the connection: %s", outcome.Message())
	}
	return w.Reconcile(t.Context(), w.Pass)
}

func (w *work) check(t *testing.T) *batchv1.Job {
	t.Helper()
	job := &batchv1.Job{}
	if err := w.Client.Get(t.Context(), w.Key(w.Named(TaskCheck)), job); err != nil {
		t.Fatal(err)
	}
	return job
}

// finishCheck ends the Job of the check at the time of the clock.
func (w *work) finishCheck(t *testing.T, how batchv1.JobConditionType) {
	t.Helper()
	job := w.check(t)
	job.Status.Conditions = []batchv1.JobCondition{{Type: how, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(w.Now())}}
	if err := w.Client.Status().Update(t.Context(), job); err != nil {
		t.Fatal(err)
	}
}

// setAvailable sets whether API pods are available, since a time after checkedAt.
func (w *work) setAvailable(t *testing.T, available bool, since time.Duration) {
	t.Helper()
	api := &appsv1.Deployment{}
	if err := w.Client.Get(t.Context(), w.Key("harbour"), api); err != nil {
		t.Fatal(err)
	}
	status := corev1.ConditionFalse
	api.Status.AvailableReplicas = 0
	if available {
		status, api.Status.AvailableReplicas = corev1.ConditionTrue, 1
	}
	api.Status.Conditions = []appsv1.DeploymentCondition{{
		Type: appsv1.DeploymentAvailable, Status: status, LastTransitionTime: metav1.NewTime(checkedAt.Add(since)),
	}}
	if err := w.Client.Status().Update(t.Context(), api); err != nil {
		t.Fatal(err)
	}
}

func TestTheSchemaOfADatabaseThatWasReplacedIsCheckedAgain(t *testing.T) {
	w := checked(t)
	if err := w.Client.Delete(t.Context(), createdDatabase(harbour(w), 0)); err != nil {
		t.Fatal(err)
	}
	if err := w.Client.Create(t.Context(), createdDatabase(harbour(w), time.Hour)); err != nil {
		t.Fatal(err)
	}
	w.setClock(2 * time.Hour)
	if outcome := w.pass(t); outcome.Reason() != vocabulary.ReasonSchemaCheckInProgress {
		t.Fatalf("got %s: %s, want the schema to be checked again", outcome.Reason(), outcome.Message())
	}
	w.finishCheck(t, batchv1.JobFailed)
	outcome := w.pass(t)
	for _, want := range []string{"created anew at 2027-01-15T09:00:00Z", "restore a backup of database harbour", "example.com/run-again"} {
		if outcome.IsDone() || !strings.Contains(outcome.Message(), want) {
			t.Errorf("got %s: %q, want it to say %q", outcome.Reason(), outcome.Message(), want)
		}
	}
	if found, err := w.findRecheck(t.Context()); err != nil || !found.harmless {
		t.Errorf("later steps are held back (%v), although the pods have the image and the connection", err)
	}
}

func TestADatabaseThatIsBeingDroppedIsNotReady(t *testing.T) {
	w := checked(t)
	live := &mariadbv1alpha1.Database{}
	if err := w.Client.Get(t.Context(), w.Key("harbour"), live); err != nil {
		t.Fatal(err)
	}
	live.Finalizers = []string{"database.k8s.mariadb.com/finalizer"}
	if err := w.Client.Update(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	if err := w.Client.Delete(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	outcome := w.pass(t)
	if outcome.Reason() != vocabulary.ReasonWaitingForDatabase || !strings.Contains(outcome.Message(), "is being deleted") {
		t.Errorf("got %s: %s", outcome.Reason(), outcome.Message())
	}
}

func TestACheckByAnEarlierOperatorIsNotRepeated(t *testing.T) {
	for name, c := range map[string]struct {
		database time.Duration
		again    bool
	}{
		"of this Database":  {-2 * time.Hour, false},
		"of an earlier one": {time.Minute, true},
	} {
		w := checked(t)
		earlier := w.check(t)
		// What such an operator would have created.
		w.recheck = recheck{}
		base, err := deployment.TaskJob(w.Pass, w.checkTask())
		if err != nil {
			t.Fatal(err)
		}
		earlier.Annotations, earlier.CreationTimestamp = base.Annotations, checkedAt
		if err := w.Client.Delete(t.Context(), earlier.DeepCopy()); err != nil {
			t.Fatal(err)
		}
		earlier.ResourceVersion = ""
		if err := w.Client.Create(t.Context(), earlier); err != nil {
			t.Fatal(err)
		}
		if err := w.Client.Delete(t.Context(), createdDatabase(harbour(w), 0)); err != nil {
			t.Fatal(err)
		}
		if err := w.Client.Create(t.Context(), createdDatabase(harbour(w), c.database)); err != nil {
			t.Fatal(err)
		}
		if outcome := w.pass(t); outcome.IsDone() == c.again {
			t.Errorf("a check %s: got %s: %s", name, outcome.Reason(), outcome.Message())
		}
	}
}

func TestTheSchemaIsCheckedAgainWhenNoPodHasBeenAvailableForAMinute(t *testing.T) {
	w := checked(t)
	w.setAvailable(t, false, time.Hour)
	var got []string
	step := func(at time.Duration) {
		w.setClock(at)
		outcome := w.pass(t)
		got = append(got, outcome.Reason())
		if at == time.Hour+time.Second && outcome.RequeueAfter() != doubtAfter-time.Second {
			t.Errorf("the pass is repeated after %s", outcome.RequeueAfter())
		}
	}
	step(time.Hour + time.Second)
	step(time.Hour + doubtAfter)
	step(time.Hour + doubtAfter)
	w.finishCheck(t, batchv1.JobFailed)
	step(time.Hour + 2*doubtAfter)
	// The database is back: its check does not wait for the retry of the failed one.
	w.setAvailable(t, true, time.Hour+2*doubtAfter)
	step(time.Hour + 2*doubtAfter)
	w.finishCheck(t, batchv1.JobComplete)
	step(time.Hour + 3*doubtAfter)
	want := []string{
		vocabulary.ReasonDatabaseSynced, vocabulary.ReasonSchemaCheckInProgress, vocabulary.ReasonDBSyncFailed,
		vocabulary.ReasonSchemaCheckInProgress, vocabulary.ReasonDatabaseSynced,
	}
	if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestACheckAfterAnOutageIsNotRepeatedWhenTheOutageEnds(t *testing.T) {
	w := checked(t)
	w.setAvailable(t, false, time.Hour)
	w.setClock(time.Hour + doubtAfter)
	w.pass(t)
	w.finishCheck(t, batchv1.JobComplete)
	uid := w.check(t).ResourceVersion
	for _, available := range []bool{false, true} {
		w.setAvailable(t, available, time.Hour)
		if outcome := w.pass(t); !outcome.IsDone() || w.check(t).ResourceVersion != uid {
			t.Errorf("available %t: got %s: %s", available, outcome.Reason(), outcome.Message())
		}
	}
}
