package follow

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/golden"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	"github.com/c5c3/forge/kubectl-forge/internal/show"
	"github.com/c5c3/forge/kubectl-forge/internal/testutil"
)

// installation are the views of a Keystone that becomes ready.
func installation() []View {
	ref := inventory.Ref{Kind: inventory.KindKeystone, Namespace: testutil.Namespace, Name: "keystone"}
	syncing := testutil.Keystone(testutil.NotReady(false,
		testutil.False(vocabulary.ConditionDatabaseReady, vocabulary.ReasonDBSyncInProgress,
			"Job keystone-db-sync is installing the database schema"))...)
	done := testutil.Installed(testutil.True(vocabulary.ConditionDatabaseReady, vocabulary.ReasonDatabaseSynced),
		testutil.True(vocabulary.ConditionReady, vocabulary.ReasonAllReady))
	return []View{Ready(ref, testutil.Keystone()), Ready(ref, syncing), Ready(ref, syncing), Ready(ref, done)}
}

// play follows the views and returns what was written. A second passes between
// two looks.
func play(t *testing.T, o Options, views []View) (string, error) {
	t.Helper()
	var out strings.Builder
	now, looks := testutil.Now, 0
	o.Out, o.Interval, o.Clock = &out, time.Millisecond, func() time.Time { return now }
	err := Until(t.Context(), o, func(context.Context) (View, error) {
		view := views[min(looks, len(views)-1)]
		if looks++; looks > 1 {
			now = now.Add(time.Second)
		}
		return view, nil
	})
	return out.String(), err
}

func TestEachChangeIsALine(t *testing.T) {
	out, err := play(t, Options{}, installation())
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "lines.txt", out)
}

func TestOnATerminalTheTableIsUpdatedInPlace(t *testing.T) {
	out, err := play(t, Options{Live: true, Style: show.Style{Width: 60}}, installation())
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "table.txt", strings.ReplaceAll(out, "\x1b", "ESC"))
	for line := range strings.SplitSeq(out, "\n") {
		line = strings.TrimPrefix(line, "\x1b[J")
		if len([]rune(line)) > 60+len("\x1b[2A\x1b[J") {
			t.Errorf("the line %q is wider than the terminal", line)
		}
	}
}

func TestAFailedViewEndsTheWatch(t *testing.T) {
	broken := errors.New("broken")
	if _, err := play(t, Options{}, []View{{}, {Failed: broken}}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestATimeoutIsReported(t *testing.T) {
	_, err := play(t, Options{Timeout: 20 * time.Millisecond}, []View{{}})
	if !errors.Is(err, ErrTimeout) || !strings.Contains(err.Error(), "20ms") {
		t.Errorf("got %v", err)
	}
}

func TestARequestErrorEndsTheWatchUnlessItTimedOut(t *testing.T) {
	refused := errors.New("refused")
	err := Until(t.Context(), Options{Interval: time.Millisecond}, func(context.Context) (View, error) { return View{}, refused })
	if !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
	err = Until(t.Context(), Options{Interval: time.Millisecond, Timeout: time.Millisecond}, func(ctx context.Context) (View, error) {
		<-ctx.Done()
		return View{}, ctx.Err()
	})
	if !errors.Is(err, ErrTimeout) {
		t.Errorf("got %v from a request that the end of the time has cut", err)
	}
}

func TestAnInterruptIsNoTimeout(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	err := Until(ctx, Options{Interval: time.Hour, Timeout: time.Hour, Out: &strings.Builder{}}, func(context.Context) (View, error) {
		cancel()
		return View{}, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestReadyCountsOnlyForTheObservedGeneration(t *testing.T) {
	ref := inventory.Ref{Kind: inventory.KindKeystone, Namespace: testutil.Namespace, Name: "keystone"}
	k := testutil.Installed(testutil.True(vocabulary.ConditionReady, vocabulary.ReasonAllReady))
	if !Ready(ref, k).Done {
		t.Error("it is ready")
	}
	k.Generation = 2
	if Ready(ref, k).Done {
		t.Error("the operator has not seen generation 2")
	}
	at := metav1.Now()
	k.DeletionTimestamp = &at
	k.Status.ObservedGeneration = 2
	if Ready(ref, k).Done {
		t.Error("it is being deleted")
	}
}

func TestATemporaryErrorIsRetried(t *testing.T) {
	busy, looks := errors.New("busy"), 0
	o := Options{Out: &strings.Builder{}, Interval: time.Millisecond, Temporary: func(err error) bool { return errors.Is(err, busy) }}
	err := Until(t.Context(), o, func(context.Context) (View, error) {
		if looks++; looks <= patience {
			return View{}, busy
		}
		return View{Done: true}, nil
	})
	if err != nil {
		t.Errorf("got %v after %d looks", err, looks)
	}
	if err := Until(t.Context(), o, func(context.Context) (View, error) { return View{}, busy }); !errors.Is(err, busy) {
		t.Errorf("got %v from an error that does not pass", err)
	}
}
