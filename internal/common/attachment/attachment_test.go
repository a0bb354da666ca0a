package attachment

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/kube"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// moorings declares the attached resources of a marina.
var moorings = Declaration[*instance.Mooring]{
	For: &instance.Mooring{}, List: &instance.MooringList{}, AddToScheme: instance.AddToScheme,
	Field: instance.MooringField, Finalizer: "test/in-use", Service: &instance.Marina{}, Definition: &instance.Definition,
	Guard: func(m *instance.Mooring) error {
		if m.Spec.Berth == "" {
			return errors.New("spec.berth is required")
		}
		return nil
	},
	Spec:     func(m *instance.Mooring) any { return m.Spec },
	Identity: func(m *instance.Mooring) string { return "berth " + m.Spec.Berth },
	Credentials: func(m *instance.Mooring) *service.Requirement {
		if m.Spec.Secret == "" {
			return nil
		}
		return &service.Requirement{Name: m.Spec.Secret, Keys: []string{"key"}, Field: "spec.secret"}
	},
	Options: func(_ *service.Pass, all []Accepted[*instance.Mooring]) ini.File {
		options := ini.File{}
		for _, a := range all {
			options.Set(a.Resource.Name, "berth", a.Resource.Spec.Berth)
		}
		return options
	},
	SecretOptions: func(a Accepted[*instance.Mooring]) ini.File {
		return ini.File{a.Resource.Name: {"key": string(a.Credentials.Data["key"])}}
	},
	Accepted: reconcile.NewSlot[[]Accepted[*instance.Mooring]]("Moorings"),
	Lacks: func(_ service.Resource, all []Accepted[*instance.Mooring]) string {
		if len(all) == 0 {
			return "Create a Mooring"
		}
		return ""
	},
	Usage: &Usage{
		Database: database.Database{Section: "DATABASE"}, Query: "SELECT COUNT(*) FROM ships WHERE mooring = :name",
		Items: "ships", Remedy: "let them put to sea",
	},
}

// mooring returns a resource of the marina. The age orders duplicates.
func mooring(name, berth, secret string, age int64) *instance.Mooring {
	m := &instance.Mooring{Spec: instance.MooringSpec{Marina: "harbour", Berth: berth, Secret: secret}}
	m.ObjectMeta = metav1.ObjectMeta{
		Namespace: "openstack", Name: name, UID: types.UID(name + "-uid"), CreationTimestamp: metav1.Unix(1000-age, 0),
	}
	return m
}

func going(m *instance.Mooring) *instance.Mooring {
	m.DeletionTimestamp, m.Finalizers = ptr.To(metav1.Unix(2000, 0)), []string{moorings.Finalizer}
	return m
}

func keyIn(name, key string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "openstack", Name: name, UID: types.UID(name + "-uid")},
		Data:       map[string][]byte{"key": []byte(key)},
	}
}

// ended are the conditions of a Job that has ended.
func ended(how batchv1.JobConditionType) []batchv1.JobCondition {
	return []batchv1.JobCondition{{Type: how, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
}

func passOf(t *testing.T, m *instance.Marina, objects ...client.Object) *service.Pass {
	t.Helper()
	p := instance.Pass(t, m, interceptor.Funcs{}, objects...)
	p.Refs, p.Jobs.Events = p.Client, p.Client
	return p
}

func TestTheVerdictNamesWhatIsWrongWithAResource(t *testing.T) {
	m := instance.WithMoorings()
	m.Moorings = []commonv1.Attached{{Name: "used", UID: "used-uid"}}
	p := passOf(t, m,
		mooring("good", "1", "given", 5), mooring("younger", "1", "", 1), mooring("used", "2", "", 1), mooring("older", "2", "", 9),
		mooring("invalid", "", "", 1), mooring("missing", "3", "absent", 1), mooring("empty", "4", "empty", 1),
		keyIn("given", "k"), keyIn("empty", ""))
	judged, err := moorings.verdicts(t.Context(), p, m.Moorings)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, v := range judged {
		got[v.Resource.Name] = v.reason
		if v.reason != "" && v.message == "" || (v.reason == "") != (v.Configuration != "") {
			t.Errorf("%s: %q, %q, configuration %q", v.Resource.Name, v.reason, v.message, v.Configuration)
		}
	}
	want := map[string]string{
		"good": "", "younger": vocabulary.ReasonDuplicate, "used": "", "older": vocabulary.ReasonDuplicate,
		"invalid": vocabulary.ReasonInvalidSpec, "missing": vocabulary.ReasonWaitingForCredentials,
		"empty": vocabulary.ReasonWaitingForCredentials,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

func TestTheConfigurationChangesWithTheSpecAndTheCredentials(t *testing.T) {
	configuration := func(m *instance.Mooring, secret *corev1.Secret) string {
		p := passOf(t, instance.WithMoorings(), m, secret)
		judged, err := moorings.verdicts(t.Context(), p, nil)
		if err != nil || len(judged) != 1 || judged[0].reason != "" {
			t.Fatalf("got %+v and %v", judged, err)
		}
		return judged[0].Configuration
	}
	first := configuration(mooring("a", "1", "given", 1), keyIn("given", "k"))
	for name, c := range map[string]struct {
		same    bool
		mooring *instance.Mooring
		key     string
	}{
		"nothing":       {true, mooring("a", "1", "given", 1), "k"},
		"another berth": {false, mooring("a", "2", "given", 1), "k"},
		"another key":   {false, mooring("a", "1", "given", 1), "l"},
	} {
		if got := configuration(c.mooring, keyIn("given", c.key)); (got == first) != c.same {
			t.Errorf("%s: it is %s, was %s", name, got, first)
		}
	}
}

func TestAcceptedResourcesAreConfiguredAndOthersLeftOut(t *testing.T) {
	p := passOf(t, instance.WithMoorings(),
		mooring("b", "1", "given", 5), mooring("a", "2", "", 1), mooring("bad", "3", "absent", 1), keyIn("given", "s3$cret"))
	if outcome := moorings.Reconcile(t.Context(), p); !outcome.IsDone() || !strings.Contains(outcome.Message(), "In use: a, b; not in use") {
		t.Fatalf("got %s: %s", outcome.Reason(), outcome.Message())
	}
	part := moorings.Part()
	if diff := cmp.Diff(ini.File{"a": {"berth": "2"}, "b": {"berth": "1"}}, part.Options(p)); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
	secret, sources, err := part.SecretOptions(t.Context(), p)
	if diff := cmp.Diff(ini.File{"b": {"key": "s3$$cret"}}, secret); diff != "" || err != nil || len(sources) != 1 {
		t.Errorf("secret options from %v, %v (-want +got):\n%s", sources, err, diff)
	}
	if hidden := p.Hidden(); len(hidden) != 1 || hidden[0] != "s3$cret" {
		t.Errorf("output hides %q", hidden)
	}
}

func TestALineBreakInACredentialIsRefused(t *testing.T) {
	p := passOf(t, instance.WithMoorings(), mooring("a", "1", "given", 1), keyIn("given", "k\n[DEFAULT]"))
	moorings.Reconcile(t.Context(), p)
	if _, _, err := moorings.Part().SecretOptions(t.Context(), p); err == nil || !strings.Contains(err.Error(), "Secret given of Mooring a") {
		t.Errorf("got %v", err)
	}
}

func TestPodsKeepAResourceThatLosesItsSecret(t *testing.T) {
	m := instance.WithMoorings()
	m.Moorings = []commonv1.Attached{{Name: "a", UID: "a-uid", Configuration: "0123"}}
	p := passOf(t, m, mooring("a", "1", "absent", 1), mooring("b", "2", "", 1))
	outcome := moorings.Reconcile(t.Context(), p)
	if outcome.Reason() != vocabulary.ReasonAttachmentUnusable || !strings.Contains(outcome.Message(), "Secret absent") {
		t.Errorf("got %s: %s", outcome.Reason(), outcome.Message())
	}
}

func TestAServiceThatNeedsAResourceWaitsForOne(t *testing.T) {
	p := passOf(t, instance.WithMoorings(), mooring("a", "1", "absent", 1))
	outcome := moorings.Reconcile(t.Context(), p)
	if outcome.Reason() != vocabulary.ReasonNoAttachment || !strings.Contains(outcome.Message(), "as their conditions explain: a") {
		t.Errorf("got %s: %s", outcome.Reason(), outcome.Message())
	}
	optional := moorings
	optional.Lacks = nil
	if outcome := optional.Reconcile(t.Context(), p); !outcome.IsDone() || !strings.Contains(outcome.Message(), "No Mooring is in use") {
		t.Errorf("got %s: %s", outcome.Reason(), outcome.Message())
	}
}

func TestThePhasesOfAnEnd(t *testing.T) {
	for _, c := range []struct {
		phase commonv1.AttachedPhase
		inUse bool
		want  commonv1.AttachedPhase
	}{
		{commonv1.AttachedEmptying, true, commonv1.AttachedEmptying},
		{commonv1.AttachedEmptying, false, commonv1.AttachedReleasing},
		{commonv1.AttachedReleasing, true, commonv1.AttachedEmptying},
		{commonv1.AttachedReleasing, false, commonv1.AttachedReleased},
	} {
		if got := next(c.phase, c.inUse); got != c.want {
			t.Errorf("after %s, in use %t: %s, want %s", c.phase, c.inUse, got, c.want)
		}
	}
}

// rolledOut is a pass at whose time all pods have the accepted resources.
func rolledOut(t *testing.T, m *instance.Marina, objects ...client.Object) *service.Pass {
	t.Helper()
	p := passOf(t, m, objects...)
	if outcome := moorings.Reconcile(t.Context(), p); !outcome.IsDone() {
		t.Fatalf("got %s: %s", outcome.Reason(), outcome.Message())
	}
	deploy := &appsv1.Deployment{ObjectMeta: p.Meta("harbour")}
	deploy.OwnerReferences = []metav1.OwnerReference{{UID: m.UID, Controller: ptr.To(true), Name: m.Name, Kind: "Marina", APIVersion: "v1"}}
	deploy.Spec.Template.Annotations = moorings.Annotate(nil)(p)
	if err := p.Client.Create(t.Context(), deploy); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTheStatusListsWhatAllPodsHave(t *testing.T) {
	m := instance.WithMoorings()
	p := rolledOut(t, m, mooring("a", "1", "", 1), mooring("b", "2", "absent", 1))
	if outcome := moorings.Follow(t.Context(), p); !outcome.IsDone() {
		t.Fatalf("got %s: %s", outcome.Reason(), outcome.Message())
	}
	if len(m.Moorings) != 1 || m.Moorings[0].Name != "a" || m.Moorings[0].Configuration == "" {
		t.Errorf("the status lists %+v", m.Moorings)
	}
}

func TestPodsOfBeforeDoNotCount(t *testing.T) {
	m := instance.WithMoorings()
	p := rolledOut(t, m, mooring("a", "1", "", 1))
	if err := p.Client.Create(t.Context(), mooring("b", "2", "", 1)); err != nil {
		t.Fatal(err)
	}
	moorings.Reconcile(t.Context(), p)
	if outcome := moorings.Follow(t.Context(), p); !outcome.IsDone() || len(m.Moorings) > 0 {
		t.Errorf("got %s, the status lists %+v", outcome.Reason(), m.Moorings)
	}
}

func TestAnEndCountsWhileAndAfterPodsHaveTheResource(t *testing.T) {
	m := instance.WithMoorings()
	m.Moorings = []commonv1.Attached{{Name: "a", UID: "a-uid", Configuration: "0123"}}
	a := going(mooring("a", "1", "", 1))
	p := rolledOut(t, m, a, mooring("b", "2", "", 1))
	for _, want := range []commonv1.AttachedPhase{commonv1.AttachedEmptying, commonv1.AttachedReleasing} {
		moorings.Follow(t.Context(), p)
		if m.Moorings[0].Phase != want {
			t.Fatalf("the status lists %+v, want phase %s", m.Moorings, want)
		}
		counted := &batchv1.Job{}
		key := p.Key(p.Named(TaskName(a.UID)))
		found, err := apply.Find(t.Context(), p.Client, key, counted)
		if found == nil || err != nil {
			t.Fatalf("there is no Job %s: %v", key.Name, err)
		}
		found.Status.Conditions = ended(batchv1.JobComplete)
		if err := p.Client.Status().Update(t.Context(), found); err != nil {
			t.Fatal(err)
		}
		moorings.Follow(t.Context(), p)
		// The pods are replaced by ones without the resource.
		if outcome := moorings.Reconcile(t.Context(), p); !outcome.IsDone() || strings.Contains(outcome.Message(), "a, b") {
			t.Fatalf("got %s: %s", outcome.Reason(), outcome.Message())
		}
		live := &appsv1.Deployment{ObjectMeta: p.Meta("harbour")}
		if err := p.Client.Get(t.Context(), p.Key("harbour"), live); err != nil {
			t.Fatal(err)
		}
		live.Spec.Template.Annotations = moorings.Annotate(nil)(p)
		if err := p.Client.Update(t.Context(), live); err != nil {
			t.Fatal(err)
		}
	}
	if m.Moorings[0].Phase != commonv1.AttachedReleased || m.Moorings[0].Configuration != "" {
		t.Errorf("the status lists %+v", m.Moorings)
	}
}

func TestAResourceInUseSaysWhatToDo(t *testing.T) {
	m := instance.WithMoorings()
	m.Moorings = []commonv1.Attached{{Name: "a", UID: "a-uid", Configuration: "0123", Phase: commonv1.AttachedEmptying}}
	a := going(mooring("a", "1", "", 1))
	p := rolledOut(t, m, a, mooring("b", "2", "", 1))
	moorings.Follow(t.Context(), p)
	counted := &batchv1.Job{}
	if err := p.Client.Get(t.Context(), p.Key(p.Named(TaskName(a.UID))), counted); err != nil {
		t.Fatal(err)
	}
	counted.Status.Conditions = ended(batchv1.JobFailed)
	if err := p.Client.Status().Update(t.Context(), counted); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "openstack", Name: "count"}}
	pod.Labels = map[string]string{batchv1.JobNameLabel: counted.Name}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: useTask, State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: exitInUse, Message: "12 ships"},
	}}}
	if err := p.Client.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	outcome := moorings.Follow(t.Context(), p)
	entry := m.Moorings[0]
	if entry.Phase != commonv1.AttachedEmptying || !strings.Contains(entry.InUse, "12 ships") || !strings.Contains(entry.InUse, "put to sea") {
		t.Errorf("the status lists %+v", entry)
	}
	if outcome.RequeueAfter() < time.Minute {
		t.Errorf("it looks again after %s", outcome.RequeueAfter())
	}
}

func TestTheLastResourceStays(t *testing.T) {
	m := instance.WithMoorings()
	p := rolledOut(t, m, going(mooring("a", "1", "", 1)), going(mooring("b", "2", "", 1)))
	moorings.Follow(t.Context(), p)
	for _, entry := range m.Moorings {
		if entry.Phase != commonv1.AttachedEmptying || !strings.Contains(entry.InUse, "Create a Mooring") {
			t.Errorf("the status lists %+v", entry)
		}
	}
}

func TestTheLastResourceStaysIfItWasAcceptedBeforeItsDeletion(t *testing.T) {
	p, entry := rolledOut(t, instance.WithMoorings(), mooring("a", "1", "", 1)), &commonv1.Attached{Name: "a", UID: "a-uid"}
	accepted := moorings.Accepted.Value(p.Slots)
	if _, err := moorings.end(t.Context(), p, accepted, going(mooring("a", "1", "", 1)), entry); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(entry.InUse, "Create a Mooring") {
		t.Errorf("its entry is %+v", entry)
	}
}

func TestOnlyAResourceThatPodsDoNotHaveGoesWithoutAnInstalledService(t *testing.T) {
	entry := []commonv1.Attached{{Name: "a", UID: "a-uid", Configuration: "0123"}}
	for name, c := range map[string]struct {
		installed string
		entries   []commonv1.Attached
		released  bool
	}{
		"never installed":                      {"", nil, true},
		"pods run while the schema is checked": {"", entry, false},
		"installed, and not looked at yet":     {"2025.2", nil, false},
		"installed, and in use":                {"2025.2", entry, false},
	} {
		m := instance.WithMoorings()
		m.ServiceStatus().InstalledRelease, m.Moorings = c.installed, c.entries
		s := &scope[*instance.Mooring]{
			Access: &kube.Access{Client: passOf(t, m).Client}, Slots: &reconcile.Slots{},
			declared: moorings, resource: going(mooring("a", "1", "", 1)),
		}
		if outcome := s.release(t.Context()); outcome.IsDone() != c.released {
			t.Errorf("%s: got %s: %s", name, outcome.Reason(), outcome.Message())
		}
	}
}

func TestAResourceThatNoPodHasEverHadIsReleasedAtOnce(t *testing.T) {
	m := instance.WithMoorings()
	p := rolledOut(t, m, mooring("a", "1", "", 9), going(mooring("duplicate", "1", "", 1)))
	moorings.Follow(t.Context(), p)
	if len(m.Moorings) != 2 || m.Moorings[1].Phase != commonv1.AttachedReleased {
		t.Errorf("the status lists %+v", m.Moorings)
	}
}

func TestTheConditionHasAReasonOfItsOwnBeforeSomethingExpires(t *testing.T) {
	now, expires := time.Unix(1_000_000, 0), time.Time{}
	d := moorings
	d.Report = func(_ service.Resource, _ Accepted[*instance.Mooring], _ time.Time) (string, time.Time) {
		return "Mind the date", expires
	}
	a := mooring("a", "1", "", 1)
	p := passOf(t, instance.WithMoorings(), a)
	for left, want := range map[time.Duration]string{
		0: vocabulary.ReasonAccepted, expiresSoon: vocabulary.ReasonAccepted,
		expiresSoon - time.Second: vocabulary.ReasonExpiresSoon, -time.Second: vocabulary.ReasonExpiresSoon,
	} {
		if expires = now.Add(left); left == 0 {
			expires = time.Time{}
		}
		s := &scope[*instance.Mooring]{
			Access: &kube.Access{Client: p.Client, Refs: p.Refs, Clock: func() time.Time { return now }},
			Slots:  &reconcile.Slots{}, declared: d, resource: a,
		}
		outcome := s.accept(t.Context())
		if !outcome.IsDone() || outcome.Reason() != want || !strings.HasSuffix(outcome.Message(), ". Mind the date") {
			t.Errorf("%s before: got %s: %s", left, outcome.Reason(), outcome.Message())
		}
	}
}

func TestAnAttachedResourceTriggersAPassOverItsService(t *testing.T) {
	requests := moorings.Controller().Watch().Concerns(nil)(t.Context(), mooring("a", "1", "", 1))
	if len(requests) != 1 || requests[0].Name != "harbour" || requests[0].Namespace != "openstack" {
		t.Errorf("got %v", requests)
	}
}

func TestThePipelineOfAttachedResourcesIsValid(t *testing.T) {
	if err := moorings.Controller().Pipeline.Validate(); err != nil {
		t.Error(err)
	}
}
