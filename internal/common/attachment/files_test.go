package attachment

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/config"
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/kube"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// charts declares attached resources with files, which a marina does without.
func charts() Declaration[*instance.Mooring] {
	d := moorings
	d.Lacks, d.Usage, d.SecretOptions = nil, nil, nil
	d.Options = func(_ *service.Pass, all []Accepted[*instance.Mooring]) ini.File {
		if len(all) == 0 {
			return nil
		}
		return ini.File{"charts": {"folder": "/charts"}}
	}
	d.CABundle = func(m *instance.Mooring) *service.Requirement {
		if m.Spec.Secret != "sealed" {
			return nil
		}
		return &service.Requirement{Name: "seal", Keys: []string{"key"}, Field: "spec.seal"}
	}
	d.Conflict = func(r service.Resource, _ *instance.Mooring) string { return r.GetAnnotations()["conflict"] }
	d.Files = &Files[*instance.Mooring]{
		Render: func(a Accepted[*instance.Mooring]) (map[string]string, error) {
			if a.Credentials == nil {
				return nil, errors.New("it has no key")
			}
			return map[string]string{"chart": a.Resource.Spec.Berth + " " + string(a.Credentials.Data["key"])}, nil
		},
		Volume: "charts", Folder: "/charts",
		Mounted: func(m *instance.Mooring) []corev1.KeyToPath {
			return []corev1.KeyToPath{{Key: "chart", Path: "all/" + m.Name}}
		},
	}
	d.Verification = &Verification[*instance.Mooring]{
		Database: database.Database{Section: "DATABASE"},
		Command:  func(_ *service.Pass, m *instance.Mooring) []string { return []string{"sound", m.Name} },
	}
	d.Accepted = reconcile.NewSlot[[]Accepted[*instance.Mooring]]("Charts")
	d.Unverified = reconcile.NewSlot[[]Accepted[*instance.Mooring]]("UnverifiedCharts")
	return d
}

func filesPass(t *testing.T, m *instance.Marina, objects ...client.Object) *service.Pass {
	t.Helper()
	p := passOf(t, m, objects...)
	p.APIReader = p.Client
	p.Owned = secrets.Owned{Client: p.Client, APIReader: p.Client, Scheme: p.Scheme}
	return p
}

// mustBe fails the test unless the outcome is done.
func mustBe(t *testing.T, outcome reconcile.Outcome) {
	t.Helper()
	if !outcome.IsDone() {
		t.Fatalf("got %s: %s", outcome.Reason(), outcome.Message())
	}
}

// endOf ends the verification of the mooring.
func endOf(t *testing.T, p *service.Pass, m *instance.Mooring, how batchv1.JobConditionType, code int32, said string) {
	t.Helper()
	endTask(t, p, VerificationName(m.UID), verifyTask, how, code, said)
}

// endTask ends the task with the container.
func endTask(t *testing.T, p *service.Pass, name, container string, how batchv1.JobConditionType, code int32, said string) {
	t.Helper()
	live := &batchv1.Job{}
	if err := p.Client.Get(t.Context(), p.Key(p.Named(name)), live); err != nil {
		t.Fatal(err)
	}
	live.Status.Conditions = ended(how)
	if err := p.Client.Status().Update(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "openstack"}}
	pod.Name = fmt.Sprintf("pod-of-%s-%d-%s", name, code, live.ResourceVersion)
	pod.Labels = map[string]string{batchv1.JobNameLabel: live.Name}
	pod.OwnerReferences = []metav1.OwnerReference{{
		UID: live.UID, Controller: ptr.To(true), Name: live.Name, Kind: "Job", APIVersion: "batch/v1",
	}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: container, State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: said},
	}}}
	if err := p.Client.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
}

func TestPodsGetTheFilesOfAResourceOnceItIsVerified(t *testing.T) {
	m, d := instance.WithMoorings(), charts()
	a := mooring("a", "1", "given", 1)
	p := filesPass(t, m, a, keyIn("given", "k"))
	mustBe(t, d.Reconcile(t.Context(), p))
	if accepted, unverified := d.Accepted.Value(p.Slots), d.Unverified.Value(p.Slots); len(accepted) != 0 || len(unverified) != 1 {
		t.Fatalf("accepted %v, unverified %v", accepted, unverified)
	}
	if d.Mounts(p) != nil || d.Annotate(nil)(p)[annotationAttached] != "" {
		t.Error("pods change before the resource is verified")
	}
	mustBe(t, d.Verify(t.Context(), p))
	endOf(t, p, a, batchv1.JobComplete, 0, "berth-1\n")
	mustBe(t, d.Verify(t.Context(), p))
	if len(m.Moorings) != 1 || m.Moorings[0].Verification == nil || m.Moorings[0].Verification.Reference != "berth-1" {
		t.Fatalf("the status lists %+v", m.Moorings)
	}
	mustBe(t, d.Reconcile(t.Context(), p))
	accepted := d.Accepted.Value(p.Slots)
	if len(accepted) != 1 || len(d.Unverified.Value(p.Slots)) != 0 {
		t.Fatalf("accepted %v", accepted)
	}
	secret := &corev1.Secret{}
	if err := p.Client.Get(t.Context(), p.Key(accepted[0].secret), secret); err != nil || string(secret.Data["chart"]) != "1 k" {
		t.Errorf("the files are %v (%v)", secret.Data, err)
	}
	mounts := d.Mounts(p)
	want := []corev1.VolumeProjection{{Secret: &corev1.SecretProjection{
		LocalObjectReference: corev1.LocalObjectReference{Name: secret.Name}, Items: []corev1.KeyToPath{{Key: "chart", Path: "all/a"}},
	}}}
	if len(mounts) != 1 || mounts[0].Path != "/charts" || cmp.Diff(want, mounts[0].Volume.Projected.Sources) != "" {
		t.Errorf("pods mount %+v", mounts)
	}
}

func TestPodsMountNoVolumeWithoutFiles(t *testing.T) {
	m, d := instance.WithMoorings(), charts()
	p := filesPass(t, m)
	d.Accepted.Put(p.Slots, []Accepted[*instance.Mooring]{{Resource: mooring("a", "1", "given", 1), secret: "files"}})
	if none := d.MountsAt(p, "other", "/other", func(Accepted[*instance.Mooring]) []corev1.KeyToPath { return nil }); none != nil {
		t.Errorf("pods mount %+v", none)
	}
}

func TestWhatAVerificationSaysIsInTheVerdict(t *testing.T) {
	m, d := instance.WithMoorings(), charts()
	a := mooring("a", "1", "given", 1)
	p := filesPass(t, m, a, keyIn("given", "k"))
	verdict := func() (string, string) {
		judged, err := d.verdicts(t.Context(), p, m.Moorings)
		if err != nil || len(judged) != 1 {
			t.Fatal(err)
		}
		return judged[0].reason, judged[0].message
	}
	if reason, message := verdict(); reason != vocabulary.ReasonVerifying || !strings.Contains(message, "Job harbour-verify-") {
		t.Errorf("got %s: %s", reason, message)
	}
	mustBe(t, d.Reconcile(t.Context(), p))
	mustBe(t, d.Verify(t.Context(), p))
	endOf(t, p, a, batchv1.JobFailed, exitUnfit, "too shallow")
	if outcome := d.Verify(t.Context(), p); outcome.RequeueAfter() <= 0 {
		t.Error("it is not verified again")
	}
	if reason, message := verdict(); reason != vocabulary.ReasonVerificationFailed || !strings.Contains(message, "too shallow") {
		t.Errorf("got %s: %s", reason, message)
	}
}

// isDueAt reports whether a pass at that time verifies a mooring.
func isDueAt(t *testing.T, d Declaration[*instance.Mooring], p *service.Pass, now time.Time) bool {
	t.Helper()
	p.Clock = func() time.Time { return now }
	outcome := d.Reconcile(t.Context(), p)
	mustBe(t, outcome)
	due := len(d.Unverified.Value(p.Slots)) > 0
	if again := outcome.RequeueAfter(); !due && (again <= 0 || again > verifiedFor) {
		t.Errorf("the next pass is after %s", again)
	}
	return due
}

// runKey is that of the Job that verifies the mooring.
func runKey(t *testing.T, p *service.Pass, m *instance.Mooring) string {
	t.Helper()
	live := &batchv1.Job{}
	if err := p.Client.Get(t.Context(), p.Key(p.Named(VerificationName(m.UID))), live); err != nil {
		t.Fatal(err)
	}
	return live.Annotations[job.RunKeyAnnotation]
}

// verifiedPass is a pass at that time over a marina whose pods have the mooring, which has just been verified.
func verifiedPass(
	t *testing.T, d Declaration[*instance.Mooring], a *instance.Mooring, now time.Time,
) (*instance.Marina, *service.Pass) {
	t.Helper()
	m := instance.WithMoorings()
	p := filesPass(t, m, a, keyIn("given", "k"))
	isDueAt(t, d, p, now)
	mustBe(t, d.Verify(t.Context(), p))
	endOf(t, p, a, batchv1.JobComplete, 0, "")
	mustBe(t, d.Verify(t.Context(), p))
	m.Moorings[0].Configuration = m.Moorings[0].Verification.Configuration
	return m, p
}

func TestAResourceThatPodsHaveIsVerifiedEachHour(t *testing.T) {
	d, a, begin := charts(), mooring("a", "1", "given", 1), time.Now()
	m, p := verifiedPass(t, d, a, begin)
	first, key := m.Moorings[0].Verification.VerifiedAt, runKey(t, p, a)
	for after, want := range map[time.Duration]bool{
		10 * time.Second: false, 59 * time.Minute: false, 61 * time.Minute: true,
		// The clock was ahead when it was verified.
		-time.Minute: true,
	} {
		if isDueAt(t, d, p, begin.Add(after)) != want || len(d.Accepted.Value(p.Slots)) != 1 {
			t.Errorf("after %s it is to be verified: %t; in use: %v", after, !want, d.Accepted.Value(p.Slots))
		}
	}
	isDueAt(t, d, p, begin.Add(2*time.Hour))
	mustBe(t, d.Verify(t.Context(), p))
	if again := runKey(t, p, a); again == key || !m.Moorings[0].Verification.VerifiedAt.Equal(first) {
		t.Fatalf("the Job of before counts; the status has %+v", m.Moorings[0].Verification)
	}
	endOf(t, p, a, batchv1.JobFailed, 1, "out of reach")
	d.Verify(t.Context(), p)
	if failed := m.Moorings[0].Verification; failed.Failure == "" || !failed.VerifiedAt.Equal(first) {
		t.Fatalf("after a failure the status has %+v", failed)
	}
	endOf(t, p, a, batchv1.JobComplete, 0, "")
	mustBe(t, d.Verify(t.Context(), p))
	if worked := m.Moorings[0].Verification; worked.Failure != "" || worked.VerifiedAt == first {
		t.Errorf("after a success the status has %+v", worked)
	}
}

func TestAJobThatEndsInTheFutureDoesNotRunAtOnceAgain(t *testing.T) {
	d, a, behind := charts(), mooring("a", "1", "given", 1), time.Now().Add(-time.Minute)
	m, p := verifiedPass(t, d, a, behind)
	if isDueAt(t, d, p, behind) {
		t.Errorf("it is verified again; the status has %+v", m.Moorings[0].Verification)
	}
}

func TestAResourceThatIsChangedBackIsVerifiedAgain(t *testing.T) {
	d, a := charts(), mooring("a", "1", "given", 1)
	_, p := verifiedPass(t, d, a, time.Now())
	change := func(berth string) {
		a.Spec.Berth = berth
		if err := p.Client.Update(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		mustBe(t, d.Reconcile(t.Context(), p))
	}
	change("2")
	mustBe(t, d.Verify(t.Context(), p))
	begun := runKey(t, p, a)
	change("1")
	if accepted := d.Accepted.Value(p.Slots); len(accepted) != 1 || accepted[0].isKept {
		t.Errorf("in use: %+v", accepted)
	}
	// The Job is deleted, and another one created.
	mustBe(t, d.Verify(t.Context(), p))
	mustBe(t, d.Verify(t.Context(), p))
	if runKey(t, p, a) == begun {
		t.Error("the Job goes on with what the resource no longer has")
	}
}

func TestPodsKeepAResourceThatDoesNotWorkAnyMore(t *testing.T) {
	d := charts()
	a := mooring("a", "1", "given", 1)
	m := instance.WithMoorings()
	p := filesPass(t, m, a, keyIn("given", "k"))
	mustBe(t, d.Reconcile(t.Context(), p))
	configuration := d.Unverified.Value(p.Slots)[0].Configuration
	worked := metav1.NewTime(time.Now().Add(-2 * verifiedFor)).Rfc3339Copy()
	m.Moorings = []commonv1.Attached{{
		Name: a.Name, UID: a.UID, Configuration: configuration,
		Verification: &commonv1.Verification{Configuration: configuration, VerifiedAt: &worked},
	}}
	mustBe(t, d.Reconcile(t.Context(), p))
	mustBe(t, d.Verify(t.Context(), p))
	endOf(t, p, a, batchv1.JobFailed, 1, "out of reach")
	if outcome := d.Verify(t.Context(), p); outcome.RequeueAfter() <= 0 {
		t.Error("it is not verified again")
	}
	known := m.Moorings[0].Verification
	if !strings.Contains(known.Failure, "out of reach") || known.VerifiedAt == nil || !known.VerifiedAt.Equal(&worked) {
		t.Errorf("the status has %+v", known)
	}
	outcome := d.Reconcile(t.Context(), p)
	mustBe(t, outcome)
	accepted := d.Accepted.Value(p.Slots)
	if len(accepted) != 1 || accepted[0].Configuration != configuration || outcome.Message() != "In use: a" {
		t.Errorf("in use: %+v; it says %s", accepted, outcome.Message())
	}
	s := &scope[*instance.Mooring]{
		Access: &kube.Access{Client: p.Client, Refs: p.Refs}, Slots: &reconcile.Slots{}, declared: d, resource: a,
	}
	if err := p.Client.Update(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if outcome := s.accept(t.Context()); outcome.Reason() != vocabulary.ReasonVerificationFailed || outcome.Message() != known.Failure {
		t.Errorf("got %s: %s", outcome.Reason(), outcome.Message())
	}
	mustBe(t, s.programmed(t.Context()))
}

func TestAChangeOfEachSecretConcernsTheResource(t *testing.T) {
	d := charts()
	for secret, want := range map[string]string{"": "", "given": "given", "sealed": "sealed,seal"} {
		if got := strings.Join(d.secretNames(mooring("a", "1", secret, 1)), ","); got != want {
			t.Errorf("with %q it needs %s, want %s", secret, got, want)
		}
	}
}

func TestAnUpgradeWithoutPodsIsNotDisturbed(t *testing.T) {
	m, d := instance.WithMoorings(), charts()
	m.ServiceStatus().UpgradePhase = commonv1.UpgradePhaseSyncing
	a := mooring("a", "1", "given", 1)
	p := filesPass(t, m, a, keyIn("given", "k"))
	mustBe(t, d.Reconcile(t.Context(), p))
	mustBe(t, d.Verify(t.Context(), p))
	var found batchv1.JobList
	if err := p.Client.List(t.Context(), &found); err != nil || len(found.Items) > 0 {
		t.Errorf("there are Jobs: %v (%v)", found.Items, err)
	}
}

// had is a pass over a marina whose pods have the mooring with the files.
func had(t *testing.T, d Declaration[*instance.Mooring], a *instance.Mooring, others ...client.Object) (*instance.Marina, *service.Pass) {
	t.Helper()
	m := instance.WithMoorings()
	m.Moorings = []commonv1.Attached{{Name: a.Name, UID: a.UID, Configuration: "0123456789"}}
	p := filesPass(t, m, append(others, a)...)
	old := Accepted[*instance.Mooring]{Resource: a, secret: d.secretName(p, a, "0123456789"), Files: map[string]string{"chart": "old"}}
	if err := d.writeFiles(t.Context(), p, old); err != nil {
		t.Fatal(err)
	}
	return m, p
}

func TestPodsKeepTheFilesOfAResourceThatLosesItsSecret(t *testing.T) {
	d := charts()
	_, p := had(t, d, mooring("a", "1", "absent", 1))
	outcome := d.Reconcile(t.Context(), p)
	mustBe(t, outcome)
	accepted := d.Accepted.Value(p.Slots)
	if len(accepted) != 1 || accepted[0].Files["chart"] != "old" || accepted[0].Configuration != "0123456789" {
		t.Errorf("accepted %+v", accepted)
	}
	if !strings.Contains(outcome.Message(), "In use: a as it was; not in use, as their conditions explain: a") {
		t.Errorf("it says %s", outcome.Message())
	}
}

func TestAResourceWhoseFilesAreGoneIsLeftOut(t *testing.T) {
	m, d := instance.WithMoorings(), charts()
	m.Moorings = []commonv1.Attached{{Name: "a", UID: "a-uid", Configuration: "0123456789"}}
	p := filesPass(t, m, mooring("a", "1", "absent", 1))
	mustBe(t, d.Reconcile(t.Context(), p))
	if accepted := d.Accepted.Value(p.Slots); len(accepted) != 0 {
		t.Errorf("accepted %+v", accepted)
	}
}

func TestAVerdictNamesWhatFilesLack(t *testing.T) {
	d := charts()
	for name, c := range map[string]struct {
		mooring *instance.Mooring
		marina  map[string]string
		reason  string
		says    string
	}{
		"files that cannot be rendered": {mooring("a", "1", "", 1), nil, vocabulary.ReasonWaitingForCredentials, "it has no key"},
		"no certificates":               {mooring("a", "1", "sealed", 1), nil, vocabulary.ReasonWaitingForCredentials, "Secret seal of"},
		"a conflict": {
			mooring("a", "1", "given", 1), map[string]string{"conflict": "remove it"}, vocabulary.ReasonConflictingOptions, "remove it",
		},
	} {
		m := instance.WithMoorings()
		m.Annotations = c.marina
		p := filesPass(t, m, c.mooring, keyIn("given", "k"), keyIn("sealed", "k"))
		judged, err := d.verdicts(t.Context(), p, nil)
		if err != nil || len(judged) != 1 || judged[0].reason != c.reason || !strings.Contains(judged[0].message, c.says) {
			t.Errorf("%s: got %+v (%v)", name, judged, err)
		}
	}
}

// rollOut makes all pods have what is accepted.
func rollOut(t *testing.T, d Declaration[*instance.Mooring], m *instance.Marina, p *service.Pass) {
	t.Helper()
	deploy := &appsv1.Deployment{ObjectMeta: p.Meta("harbour")}
	deploy.OwnerReferences = []metav1.OwnerReference{{UID: m.UID, Controller: ptr.To(true), Name: m.Name, Kind: "Marina", APIVersion: "v1"}}
	deploy.Spec.Template.Annotations = d.Annotate(nil)(p)
	if err := p.Client.Create(t.Context(), deploy); err != nil {
		t.Fatal(err)
	}
}

func TestFilesThatNoPodMountsAreRemoved(t *testing.T) {
	d := charts()
	a := going(mooring("a", "1", "given", 1))
	m, p := had(t, d, a, keyIn("given", "k"))
	m.Moorings[0].Phase = commonv1.AttachedReleasing
	mustBe(t, d.Reconcile(t.Context(), p))
	rollOut(t, d, m, p)
	mustBe(t, d.Follow(t.Context(), p))
	if m.Moorings[0].Phase != commonv1.AttachedReleased {
		t.Errorf("the status lists %+v", m.Moorings)
	}
	var left corev1.SecretList
	if err := p.Client.List(t.Context(), &left, client.HasLabels{config.BaseLabel}); err != nil || len(left.Items) > 0 {
		t.Errorf("there are Secrets: %v (%v)", left.Items, err)
	}
}

func TestNothingIsCountedOfAResourceInWhichNothingIsStored(t *testing.T) {
	d := charts()
	a := going(mooring("a", "1", "given", 1))
	m, p := had(t, d, a, keyIn("given", "k"))
	mustBe(t, d.Reconcile(t.Context(), p))
	rollOut(t, d, m, p)
	mustBe(t, d.Follow(t.Context(), p))
	if m.Moorings[0].Phase != commonv1.AttachedReleasing {
		t.Errorf("the status lists %+v", m.Moorings)
	}
	if part := d.Part(); part.Files != nil || part.SecretOptions != nil {
		t.Errorf("the configuration has %+v", part)
	}
}

func TestOnlyAnIDIsTakenFromATerminationMessage(t *testing.T) {
	for message, want := range map[string]string{
		"0123abc": "0123abc", " 0123abc\n": "0123abc", "a b": "", "": "", "{}": "", strings.Repeat("a", 65): "",
	} {
		status := corev1.ContainerStatus{Name: verifyTask}
		status.State.Terminated = &corev1.ContainerStateTerminated{Message: message}
		if got := said(status); got != want {
			t.Errorf("%q is taken for %q", message, got)
		}
	}
}
