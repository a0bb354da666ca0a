package attachment

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/digest"
	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/serviceconfig"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// annotationAttached on the API pods identifies the attached resources that they have.
const annotationAttached = "forge.c5c3.io/attached"

// entriesOf returns the part of the service's status about attached resources.
func entriesOf(p *service.Pass) *[]commonv1.Attached {
	holder, ok := p.Resource.(Holder)
	if !ok {
		panic(fmt.Sprintf("%T has no attached resources; this is a bug in the operator", p.Resource))
	}
	return holder.Attached()
}

// Reconcile finds the resources that the service takes into its configuration. While one that
// pods have cannot be used, such as without its Secret, pods keep the configuration that they
// have: without the resource they would lose what is stored there.
func (d Declaration[A]) Reconcile(ctx context.Context, p *service.Pass) reconcile.Outcome {
	entries := *entriesOf(p)
	judged, err := d.verdicts(ctx, p, entries)
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	}
	if d.Files != nil {
		return d.collect(ctx, p, judged)
	}
	var accepted []Accepted[A]
	var refused []string
	for _, v := range judged {
		entry := of(entries, v.Resource)
		switch {
		case isLeaving(entry):
		case v.reason == "":
			accepted = append(accepted, v.Accepted)
		case entry != nil && entry.Configuration != "":
			return reconcile.Waiting(vocabulary.ReasonAttachmentUnusable, fmt.Sprintf(
				"The pods use %s %s, which cannot be used as it is now, so they keep their configuration: %s",
				d.kind(), v.Resource.GetName(), v.message))
		default:
			refused = append(refused, v.Resource.GetName())
		}
	}
	if lacking := d.lacking(p, accepted); lacking != "" {
		return reconcile.Waiting(vocabulary.ReasonNoAttachment, lacking+unused(refused))
	}
	d.Accepted.Put(p.Slots, accepted)
	return reconcile.Done(vocabulary.ReasonAttachmentsReady, d.message(accepted, refused))
}

// collect is Reconcile for resources with files: pods keep what they have of one that cannot be
// used as it is now, and nothing else is held back.
func (d Declaration[A]) collect(ctx context.Context, p *service.Pass, judged []verdict[A]) reconcile.Outcome {
	var accepted, unverified []Accepted[A]
	var refused []string
	var again time.Duration
	for _, v := range judged {
		entry := of(*entriesOf(p), v.Resource)
		if isLeaving(entry) {
			continue
		}
		if v.isComplete {
			if err := d.writeFiles(ctx, p, v.Accepted); err != nil {
				return reconcile.WriteFailed(vocabulary.ReasonReconcileError, err)
			}
		}
		isDue, left := d.isDue(p, v)
		if isDue {
			unverified = append(unverified, v.Accepted)
		}
		again = reconcile.Sooner(again, left)
		used, err := d.used(ctx, p, v, entry)
		if err != nil {
			return reconcile.Failed(vocabulary.ReasonReconcileError, err)
		}
		if used != nil {
			accepted = append(accepted, *used)
		}
		if v.reason != "" && (used == nil || used.isKept) {
			refused = append(refused, v.Resource.GetName())
		}
	}
	d.Accepted.Put(p.Slots, accepted)
	if d.Unverified != nil {
		d.Unverified.Put(p.Slots, unverified)
	}
	return reconcile.Done(vocabulary.ReasonAttachmentsReady, d.message(accepted, refused)).Within(again)
}

// isDue reports whether it is time to verify the resource, and how long a success counts otherwise.
func (d Declaration[A]) isDue(p *service.Pass, v verdict[A]) (isDue bool, left time.Duration) {
	if d.Verification == nil || !v.isComplete || !v.Resource.GetDeletionTimestamp().IsZero() {
		return false, 0
	}
	left = v.countsFor(p)
	return v.reason != "" || left == 0, left
}

// used returns what pods have, or get, of a resource, nil for nothing. They keep one that has worked as it is
// now: what has failed since then may be the directory, for example.
func (d Declaration[A]) used(ctx context.Context, p *service.Pass, v verdict[A], entry *commonv1.Attached) (*Accepted[A], error) {
	switch {
	case v.reason == "" || v.verifiedAt != nil || hasConfiguration(entry, v.Configuration):
		return &v.Accepted, nil
	case entry == nil || entry.Configuration == "":
		return nil, nil
	}
	kept, there, err := d.kept(ctx, p, v.Resource, entry.Configuration)
	if err != nil || !there {
		return nil, err
	}
	return &kept, nil
}

// lacking returns what the service lacks if it has these resources only.
func (d Declaration[A]) lacking(p *service.Pass, accepted []Accepted[A]) string {
	if d.Lacks == nil {
		return ""
	}
	return d.Lacks(p.Resource, accepted)
}

func (d Declaration[A]) message(accepted []Accepted[A], refused []string) string {
	names := make([]string, 0, len(accepted))
	for _, a := range accepted {
		name := a.Resource.GetName()
		if a.isKept {
			name += " as it was"
		}
		names = append(names, name)
	}
	message := "No " + d.kind() + " is in use"
	if len(names) > 0 {
		message = "In use: " + strings.Join(names, ", ")
	}
	return message + unused(refused)
}

// unused names resources that are not in use.
func unused(refused []string) string {
	if len(refused) == 0 {
		return ""
	}
	return "; not in use, as their conditions explain: " + strings.Join(refused, ", ")
}

// Part adds to the configuration what follows from the accepted resources. The step of the
// configuration reads the slot of them.
func (d Declaration[A]) Part() serviceconfig.Part {
	part := serviceconfig.Part{Options: func(p *service.Pass) ini.File { return d.Options(p, d.Accepted.Value(p.Slots)) }}
	if d.SecretOptions != nil {
		part.SecretOptions = func(_ context.Context, p *service.Pass) (ini.File, []types.UID, error) { return d.secretOptions(p) }
	}
	if d.Usage != nil {
		part.Files = map[string]string{useFile: d.Usage.script()}
	}
	return part
}

func (d Declaration[A]) secretOptions(p *service.Pass) (ini.File, []types.UID, error) {
	options, sources := ini.File{}, []types.UID(nil)
	escape := strings.NewReplacer("$", "$$")
	for _, a := range d.Accepted.Value(p.Slots) {
		if a.Credentials == nil {
			continue
		}
		for section, values := range d.SecretOptions(a) {
			for option, value := range values {
				p.Hide(value)
				if err := ini.ValidateValue(value); err != nil {
					return nil, nil, reconcile.TerminalError(vocabulary.ReasonSecretInvalid,
						fmt.Errorf("%s of Secret %s of %s %s cannot be used: %w", option, a.Credentials.Name, d.kind(), a.Resource.GetName(), err))
				}
				options.Set(section, option, escape.Replace(value))
			}
		}
		sources = append(sources, a.Credentials.UID)
	}
	return options, sources, nil
}

// Annotate replaces the API pods when the accepted resources change, so that the status can
// say which of them all pods have.
func (d Declaration[A]) Annotate(pods func(*service.Pass) map[string]string) func(*service.Pass) map[string]string {
	return func(p *service.Pass) map[string]string {
		annotations := map[string]string{}
		if pods != nil {
			annotations = pods(p)
		}
		if accepted := d.Accepted.Value(p.Slots); len(accepted) > 0 {
			annotations[annotationAttached] = mark(accepted)
		}
		return annotations
	}
}

// mark identifies the accepted resources. It is "" without any.
func mark[A Resource](accepted []Accepted[A]) string {
	if len(accepted) == 0 {
		return ""
	}
	var text strings.Builder
	for _, a := range accepted {
		text.WriteString(a.Resource.GetName() + "=" + a.Configuration + "\n")
	}
	sum := digest.Of([]byte(text.String()))
	return hex.EncodeToString(sum[:])
}

// Follow records in the status which resources all pods have, and prepares the end of those
// that are being deleted. It runs once the API pods have rolled out.
func (d Declaration[A]) Follow(ctx context.Context, p *service.Pass) reconcile.Outcome {
	accepted, entries := d.Accepted.Value(p.Slots), entriesOf(p)
	live, err := deployment.Live(ctx, p)
	switch {
	case err != nil:
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	case live == nil || live.Spec.Template.Annotations[annotationAttached] != mark(accepted):
		// The pods of a new version of the operator wait for their turn.
		return reconcile.Done(vocabulary.ReasonAttachmentsReady, "")
	}
	judged, err := d.verdicts(ctx, p, *entries)
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	}
	done := reconcile.Done(vocabulary.ReasonAttachmentsReady, "")
	var next []commonv1.Attached
	for _, v := range judged {
		entry := d.entry(*entries, accepted, v.Resource)
		if entry == nil {
			continue
		}
		if !v.Resource.GetDeletionTimestamp().IsZero() {
			after, err := d.end(ctx, p, accepted, v.Resource, entry)
			if err != nil {
				return reconcile.WriteFailed(vocabulary.ReasonReconcileError, err)
			}
			done = done.Within(after)
		}
		next = append(next, *entry)
	}
	var needed []Accepted[A]
	if d.Unverified != nil {
		needed = d.Unverified.Value(p.Slots)
	}
	if err := d.pruneFiles(ctx, p, slices.Concat(accepted, needed)); err != nil {
		return reconcile.WriteFailed(vocabulary.ReasonReconcileError, err)
	}
	if err := d.forget(ctx, p, *entries, next); err != nil {
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	}
	*entries = next
	return done
}

// InUse reports whether all pods have the resource, and it is not being deleted.
func (d Declaration[A]) InUse(p *service.Pass, resource A) bool {
	entry := of(*entriesOf(p), resource)
	return entry != nil && entry.Configuration != "" && resource.GetDeletionTimestamp().IsZero()
}

// entry returns the entry of a resource now that all pods have the accepted ones, nil for one
// that no pod has and that is not being deleted.
func (d Declaration[A]) entry(entries []commonv1.Attached, accepted []Accepted[A], resource A) *commonv1.Attached {
	entry := &commonv1.Attached{Name: resource.GetName(), UID: resource.GetUID()}
	if known := of(entries, resource); known != nil {
		entry.Phase, entry.InUse, entry.Verification = known.Phase, known.InUse, known.Verification
	}
	i := slices.IndexFunc(accepted, func(a Accepted[A]) bool { return a.Resource.GetUID() == resource.GetUID() })
	switch {
	case i >= 0:
		entry.Configuration = accepted[i].Configuration
	case resource.GetDeletionTimestamp().IsZero() && entry.Verification != nil:
		// It is verified, and no pod has it yet.
	case resource.GetDeletionTimestamp().IsZero():
		return nil
	case entry.Phase == "" && d.removes(resource):
		// No pod has ever had it, and its verification may have left something behind.
		entry.Phase = commonv1.AttachedReleasing
	case entry.Phase == "":
		// No pod has ever had it.
		entry.Phase = commonv1.AttachedReleased
	}
	return entry
}

// kind is the kind of the resources, such as "GlanceBackend".
func (d Declaration[A]) kind() string { return kindOf[A]() }
