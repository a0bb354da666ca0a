package service_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func TestAMissingConfigMapOrSecretOfPodsIsNamed(t *testing.T) {
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "openstack", Name: name} }
	of := func(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }
	item := []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}
	for name, test := range map[string]struct {
		settings commonv1.PodSettings
		there    []client.Object
		want     string
	}{
		"nothing": {},
		"a ConfigMap": {
			settings: commonv1.PodSettings{ExtraVolumes: []commonv1.ExtraVolume{{ConfigMap: &commonv1.VolumeFiles{Name: "ca"}}}},
			want:     "ConfigMap ca of spec.extraVolumes[0].configMap does not exist",
		},
		"an entry of a ConfigMap": {
			settings: commonv1.PodSettings{ExtraVolumes: []commonv1.ExtraVolume{{ConfigMap: &commonv1.VolumeFiles{Name: "ca", Items: item}}}},
			there:    []client.Object{&corev1.ConfigMap{ObjectMeta: named("ca"), Data: map[string]string{"other": ""}}},
			want:     "ConfigMap ca of spec.extraVolumes[0].configMap lacks ca.crt",
		},
		"nothing of binary data": {
			settings: commonv1.PodSettings{ExtraVolumes: []commonv1.ExtraVolume{{ConfigMap: &commonv1.VolumeFiles{Name: "ca", Items: item}}}},
			there:    []client.Object{&corev1.ConfigMap{ObjectMeta: named("ca"), BinaryData: map[string][]byte{"ca.crt": nil}}},
		},
		"a Secret": {
			settings: commonv1.PodSettings{ExtraVolumes: []commonv1.ExtraVolume{{Secret: &commonv1.VolumeFiles{Name: "token"}}}},
			there:    []client.Object{&corev1.ConfigMap{ObjectMeta: named("token")}},
			want:     "Secret token of spec.extraVolumes[0].secret does not exist",
		},
		"the key of a variable": {
			settings: commonv1.PodSettings{ExtraEnv: []corev1.EnvVar{{Value: "a"}, {ValueFrom: &corev1.EnvVarSource{
				SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: of("token"), Key: "token"},
			}}}},
			there: []client.Object{&corev1.Secret{ObjectMeta: named("token"), Data: map[string][]byte{"other": nil}}},
			want:  "Secret token of spec.extraEnv[1].valueFrom.secretKeyRef lacks token",
		},
		"the ConfigMap of a variable": {
			settings: commonv1.PodSettings{ExtraEnv: []corev1.EnvVar{{ValueFrom: &corev1.EnvVarSource{
				ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: of("settings"), Key: "a"},
			}}}},
			want: "ConfigMap settings of spec.extraEnv[0].valueFrom.configMapKeyRef does not exist",
		},
		"nothing that is not optional": {
			settings: commonv1.PodSettings{ExtraEnv: []corev1.EnvVar{
				{ValueFrom: &corev1.EnvVarSource{
					ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: of("settings"), Key: "a", Optional: new(true)},
				}},
				{ValueFrom: &corev1.EnvVarSource{
					SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: of("token"), Key: "a", Optional: new(true)},
				}},
			}},
		},
	} {
		h := instance.Brownfield()
		h.Spec.PodSettings = test.settings
		p := instance.Pass(t, h, interceptor.Funcs{}, test.there...)
		p.Refs = p.Client
		err := service.RequirePodInputs(t.Context(), p)
		if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s is missing: got %v, want %q", name, err, test.want)
		}
	}
}
