package admission

import (
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// pier is a kind with the fields of every service.
type pier struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec pierSpec `json:"spec"`
}

type pierSpec struct {
	commonv1.ServiceSpec `json:",inline"`
	commonv1.OptionsSpec `json:",inline"`

	Closed *metav1.Duration `json:"closed,omitempty"`
}

func (p *pier) DeepCopyObject() runtime.Object { copied := *p; return &copied }

// request is what an API server asks about an object with the spec.
func request(spec string) admission.Request {
	return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Name: "north", Operation: admissionv1.Create,
		Object: runtime.RawExtension{Raw: []byte(
			`{"apiVersion":"example.org/v1","kind":"Pier","metadata":{"name":"north"},"spec":` + spec + `}`)},
	}}
}

func TestATypeMismatchIsRefusedWithItsFieldPathAndNoGoTypes(t *testing.T) {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Pier"}, &pier{})
	w := Webhook[*pier]{
		Object: &pier{}, Kind: schema.GroupKind{Group: "example.org", Kind: "Pier"},
		Defaults: func(p *pier) { p.Spec.PriorityClassName = ptr.To("calm") },
	}
	for spec, want := range map[string]string{
		`{"extraConfig":{"token":{"expiration":7200111}}}`: "spec.extraConfig[token][expiration]: " +
			"Invalid value: must be a string, not this number: put it in quotes",
		`{"extraConfig":{"DEFAULT":{"debug":true}}}`: "spec.extraConfig[DEFAULT][debug]: " +
			"Invalid value: must be a string, not true or false: put it in quotes",
		`{"extraConfig":{"federation":{"trusted_dashboard":["a","b"]}}}`: "spec.extraConfig[federation][trusted_dashboard]: " +
			"Invalid value: must be a string, not a list: an option that may be given several times",
		`{"extraConfig":{"DEFAULT":"debug"}}`: "spec.extraConfig[DEFAULT]: " +
			"Invalid value: must be an object, not a string",
		`{"image":{"tag":2025.1}}`: "spec.image.tag: " +
			"Invalid value: must be a string, not this number: put it in quotes",
		`{"imagePullSecrets":[{"name":1},{}]}`:     "spec.imagePullSecrets[0].name: Invalid value: must be a string",
		`{"imagePullSecrets":{"name":"registry"}}`: "spec.imagePullSecrets: Invalid value: must be a list, not an object",
		`{"replicas":"3"}`: "spec.replicas: " +
			"Invalid value: must be an integer, not a string: remove the quotes",
		`{"replicas":2.5}`: "spec.replicas: Invalid value: must be an integer, not this number",
		`{"uwsgi":{"httpKeepAlive":"yes"}}`: "spec.uwsgi.httpKeepAlive: " +
			"Invalid value: must be true or false, not a string: remove the quotes",
		`{"closed":168}`: "spec.closed: " +
			"Invalid value: must be a string, not this number: put it in quotes",
		`{"closed":"hunter2"}`:                                          "spec.closed: Invalid value: is not written as its type asks",
		`{"resources":{"limits":{"cpu":1}}}`:                            "",
		`{"replicas":3,"extraConfig":{"a":{"b":null}},"closed":"168h"}`: "",
	} {
		response := w.mutating(scheme).Handle(t.Context(), request(spec))
		if want == "" {
			if !response.Allowed || len(response.Patches) == 0 {
				t.Errorf("%s: got %+v", spec, response.Result)
			}
			continue
		}
		if response.Allowed || !strings.Contains(response.Result.Message, want) {
			t.Errorf("%s: got %+v, want %q", spec, response.Result, want)
			continue
		}
		for _, hidden := range []string{"Go ", "pier", "7200111", "hunter2"} {
			if strings.Contains(response.Result.Message, hidden) {
				t.Errorf("%s: %q contains %q", spec, response.Result.Message, hidden)
			}
		}
	}
}
