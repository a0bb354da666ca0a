package conformance

import (
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/objects"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// proof is a part of the suite.
type proof struct {
	name string
	run  func(*testing.T)
}

// hasData reports whether the service has a database.
func (s suite[T]) hasData() bool { return commonv1.DataOf(s.New("", "")) != nil }

// hasOptions reports whether the service has options and a policy.
func (s suite[T]) hasOptions() bool { return commonv1.OptionsOf(s.New("", "")) != nil }

// withData runs the proof if the service has a database.
func (s suite[T]) withData(run func(*testing.T)) func(*testing.T) {
	if !s.hasData() {
		return nil
	}
	return run
}

// withOptions runs the proof if the service has options.
func (s suite[T]) withOptions(run func(*testing.T)) func(*testing.T) {
	if !s.hasOptions() {
		return nil
	}
	return run
}

// each runs those of the proofs that apply to the service.
func each(t *testing.T, proofs []proof) {
	t.Helper()
	for _, proof := range proofs {
		if proof.run != nil {
			t.Run(proof.name, proof.run)
		}
	}
}

// parallel marks a test as one that runs beside others.
func parallel(run func(*testing.T)) func(*testing.T) {
	if run == nil {
		return nil
	}
	return func(t *testing.T) {
		t.Parallel()
		run(t)
	}
}

// changeData changes what the spec says about the database.
func (i *Instance[T]) changeData(change func(*commonv1.DataSpec)) {
	i.Helper()
	objects.Change(i.T, i.Admin, i.Resource, func(r T) { change(commonv1.DataOf(r)) })
}

// changeOptions changes what the spec says about options.
func (i *Instance[T]) changeOptions(change func(*commonv1.OptionsSpec)) {
	i.Helper()
	objects.Change(i.T, i.Admin, i.Resource, func(r T) { change(commonv1.OptionsOf(r)) })
}

// data is what the spec says about the database, options what it says about options.
func (i *Instance[T]) data() *commonv1.DataSpec           { return commonv1.DataOf(i.Resource) }
func (i *Instance[T]) optionsSpec() *commonv1.OptionsSpec { return commonv1.OptionsOf(i.Resource) }
