package attachment

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/kube"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// buoys declares attached resources of which the database has something. It stays if the berth is
// "kept".
func buoys() Declaration[*instance.Mooring] {
	d := charts()
	d.Removal = &Removal[*instance.Mooring]{
		Wanted:  func(m *instance.Mooring) bool { return m.Spec.Berth != "kept" },
		Consent: func(m *instance.Mooring) string { return m.Annotations["consent"] },
		Command: func(_ *service.Pass, m *instance.Mooring) []string { return []string{"haul", m.Name} },
	}
	return d
}

// leaving is a pass over a marina none of whose pods has the mooring any more, which is being deleted.
func leaving(t *testing.T, d Declaration[*instance.Mooring], a *instance.Mooring) (*instance.Marina, *service.Pass) {
	t.Helper()
	m := instance.WithMoorings()
	m.Moorings = []commonv1.Attached{{Name: a.Name, UID: a.UID, Phase: commonv1.AttachedReleasing}}
	p := filesPass(t, m, going(a), keyIn("given", "k"))
	mustBe(t, d.Reconcile(t.Context(), p))
	rollOut(t, d, m, p)
	return m, p
}

// jobsOf returns the commands of the Jobs.
func jobsOf(t *testing.T, p *service.Pass) (commands []string) {
	t.Helper()
	var all batchv1.JobList
	if err := p.Client.List(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	for i := range all.Items {
		commands = append(commands, strings.Join(all.Items[i].Spec.Template.Spec.Containers[0].Command, " "))
	}
	return commands
}

func TestWhatBelongsToAResourceIsRemovedOnceNoPodHasIt(t *testing.T) {
	d, a := buoys(), mooring("a", "1", "given", 1)
	m, p := leaving(t, d, a)
	mustBe(t, d.Follow(t.Context(), p))
	if got := jobsOf(t, p); !slices.Equal(got, []string{"haul a"}) {
		t.Errorf("the Jobs run %q", got)
	}
	if m.Moorings[0].Phase != commonv1.AttachedReleasing {
		t.Errorf("the status lists %+v before the Job has ended", m.Moorings)
	}
	endTask(t, p, RemovalName(a.UID), removeTask, batchv1.JobComplete, 0, "")
	mustBe(t, d.Follow(t.Context(), p))
	if m.Moorings[0].Phase != commonv1.AttachedReleased {
		t.Errorf("the status lists %+v", m.Moorings)
	}
}

func TestARemovalBeginsOnceTheVerificationIsGone(t *testing.T) {
	d, a := buoys(), mooring("a", "1", "given", 1)
	m, p := leaving(t, d, a)
	verification := &batchv1.Job{ObjectMeta: p.Meta(p.Named(VerificationName(a.UID)))}
	verification.OwnerReferences = []metav1.OwnerReference{{
		UID: m.UID, Controller: ptr.To(true), Name: m.Name, Kind: "Marina", APIVersion: "v1",
	}}
	if err := p.Client.Create(t.Context(), verification); err != nil {
		t.Fatal(err)
	}
	mustBe(t, d.Follow(t.Context(), p))
	if got := jobsOf(t, p); len(got) > 0 {
		t.Errorf("the Jobs run %q", got)
	}
	mustBe(t, d.Follow(t.Context(), p))
	if got := jobsOf(t, p); !slices.Equal(got, []string{"haul a"}) {
		t.Errorf("the Jobs run %q", got)
	}
}

func TestARefusedRemovalSaysWhatToDo(t *testing.T) {
	d := buoys()
	for _, c := range []struct {
		code int32
		says string
	}{{exitRefused, "there is a ship: agree"}, {1, "has failed and is repeated"}} {
		a := mooring("a", "1", "given", 1)
		m, p := leaving(t, d, a)
		mustBe(t, d.Follow(t.Context(), p))
		endTask(t, p, RemovalName(a.UID), removeTask, batchv1.JobFailed, c.code, "there is a ship: agree")
		outcome := d.Follow(t.Context(), p)
		if entry := m.Moorings[0]; entry.Phase != commonv1.AttachedReleasing || !strings.Contains(entry.InUse, c.says) {
			t.Errorf("the status lists %+v", entry)
		}
		if outcome.RequeueAfter() < time.Minute {
			t.Errorf("it looks again after %s", outcome.RequeueAfter())
		}
		after := instance.WithMoorings()
		after.Moorings = m.Moorings
		s := &scope[*instance.Mooring]{
			Access: &kube.Access{Client: passOf(t, after).Client}, Slots: &reconcile.Slots{}, declared: d, resource: a,
		}
		if outcome := s.release(t.Context()); outcome.Reason() != vocabulary.ReasonInUse || outcome.Message() != m.Moorings[0].InUse {
			t.Errorf("got %s: %s", outcome.Reason(), outcome.Message())
		}
	}
}

func TestARemovalRunsAgainForAnotherConsent(t *testing.T) {
	d, a := buoys(), mooring("a", "1", "given", 1)
	_, p := leaving(t, d, a)
	before := d.RemovalTask(p, a)
	a.Annotations = map[string]string{"consent": "given"}
	if after := d.RemovalTask(p, a); cmp.Equal(before.RunKey, after.RunKey) {
		t.Errorf("its run key stays %v", after.RunKey)
	}
}

func TestWhatIsToStayIsNotRemoved(t *testing.T) {
	d, a := buoys(), mooring("a", "kept", "given", 1)
	m, p := leaving(t, d, a)
	m.Moorings[0].InUse = "there is a ship: agree"
	mustBe(t, d.Follow(t.Context(), p))
	if entry := m.Moorings[0]; entry.Phase != commonv1.AttachedReleased || entry.InUse != "" || len(jobsOf(t, p)) > 0 {
		t.Errorf("the status lists %+v, the Jobs run %q", entry, jobsOf(t, p))
	}
}

func TestWhatAVerificationHasMadeForAResourceThatNoPodHasHadIsRemoved(t *testing.T) {
	d, a := buoys(), mooring("a", "1", "given", 1)
	m, p := leaving(t, d, a)
	m.Moorings = nil
	mustBe(t, d.Follow(t.Context(), p))
	releasing := len(m.Moorings) == 1 && m.Moorings[0].Phase == commonv1.AttachedReleasing
	if got := jobsOf(t, p); !slices.Equal(got, []string{"haul a"}) || !releasing {
		t.Errorf("the status lists %+v, the Jobs run %q", m.Moorings, got)
	}
}
