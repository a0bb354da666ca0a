package service

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// RequirePodInputs returns an error that names a ConfigMap or Secret of spec.extraVolumes or
// spec.extraEnv that does not exist or lacks a key. The kubelet would start no pod without
// it, and says so only in an event.
func RequirePodInputs(ctx context.Context, p *Pass) error {
	for _, input := range p.Spec.Inputs() {
		missing, err := missingInput(ctx, p, input)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", input.Field, err)
		case missing == "":
			continue
		case input.Secret:
			return explainMissing(ctx, p, Requirement{
				Name: input.Name, Field: input.Field, Reason: vocabulary.ReasonWaitingForPodInputs,
			}, missing)
		}
		return reconcile.WaitError(vocabulary.ReasonWaitingForPodInputs, missing)
	}
	return nil
}

// missingInput says what of an input is missing, "" if nothing is.
func missingInput(ctx context.Context, p *Pass, input commonv1.PodInput) (string, error) {
	kind, find := "ConfigMap", configMapKeys
	if input.Secret {
		kind, find = "Secret", secretKeys
	}
	keys, err := find(ctx, p, input.Name)
	lacking := slices.DeleteFunc(slices.Clone(input.Keys), func(key string) bool { return slices.Contains(keys, key) })
	switch {
	case err != nil:
		return "", err
	case keys == nil:
		return fmt.Sprintf("%s %s of %s does not exist, and no pod starts without it; create it", kind, input.Name, input.Field), nil
	case len(lacking) > 0:
		return fmt.Sprintf("%s %s of %s lacks %s, without which no pod starts; add it",
			kind, input.Name, input.Field, strings.Join(lacking, " and ")), nil
	}
	return "", nil
}

// configMapKeys returns the keys of a ConfigMap, nil if it does not exist.
func configMapKeys(ctx context.Context, p *Pass, name string) ([]string, error) {
	found, err := apply.Find(ctx, p.Refs, p.Key(name), &corev1.ConfigMap{})
	if found == nil || err != nil {
		return nil, err
	}
	return slices.AppendSeq(slices.AppendSeq([]string{}, maps.Keys(found.Data)), maps.Keys(found.BinaryData)), nil
}

// secretKeys returns the keys of a Secret, nil if it does not exist.
func secretKeys(ctx context.Context, p *Pass, name string) ([]string, error) {
	found, err := apply.Find(ctx, p.Refs, p.Key(name), &corev1.Secret{})
	if found == nil || err != nil {
		return nil, err
	}
	return slices.AppendSeq([]string{}, maps.Keys(found.Data)), nil
}
