package pages

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/c5c3/forge/internal/common/testutil/source"
)

// kind is the kind of a constant: condition, reason or event. It is the prefix of the
// constant's name.
type kind string

const (
	kindCondition kind = "Condition"
	kindReason    kind = "Reason"
	kindEvent     kind = "Event"
)

// word is a value with its kind: a condition, a reason and an event may share a value.
type word struct {
	kind  kind
	value string
}

type explanation struct {
	meanings map[word]string
	out      bytes.Buffer
	err      error
}

func newExplanation(constants []source.Constant) *explanation {
	v := &explanation{meanings: map[word]string{}}
	for _, constant := range constants {
		for _, kind := range []kind{kindCondition, kindReason, kindEvent} {
			if strings.HasPrefix(constant.Name, string(kind)) {
				v.meanings[word{kind, constant.Value}] = constant.Meaning
			}
		}
	}
	return v
}

func (v *explanation) meaning(kind kind, value string) string {
	meaning, ok := v.meanings[word{kind, value}]
	if !ok && v.err == nil {
		v.err = fmt.Errorf("no constant %s... tells what %q means", kind, value)
	}
	return meaning
}
