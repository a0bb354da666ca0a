package apitest

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Digest is a digest of an image.
var Digest = "sha256:" + strings.Repeat("0123456789abcdef", 4)

// PodSettings returns settings of pods with every field.
func PodSettings() commonv1.PodSettings {
	return commonv1.PodSettings{
		NodeSelector: map[string]string{"node-role.kubernetes.io/infra": ""},
		Tolerations: []corev1.Toleration{{
			Key: "infra", Operator: corev1.TolerationOpEqual, Value: "true", Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(60)),
		}},
		Affinity:           &corev1.Affinity{},
		RuntimeClassName:   new("gvisor"),
		HostAliases:        []corev1.HostAlias{{IP: "192.0.2.10", Hostnames: []string{"ldap.example.com"}}},
		PodLabels:          map[string]string{"team": "identity"},
		PodAnnotations:     map[string]string{"example.com/scrape": "true"},
		ServiceAnnotations: map[string]string{"example.com/zone": "a"},
		ExtraEnv:           []corev1.EnvVar{{Name: "REQUESTS_CA_BUNDLE", Value: "/extra/ca.crt"}},

		ServiceAccountAnnotations: map[string]string{"example.com/role": "rotator"},
		ExtraVolumes: []commonv1.ExtraVolume{
			{Name: "ca", MountPath: "/extra", ConfigMap: files("corporate-ca")},
			{Name: "token", MountPath: "/token", Secret: files("token")},
			{
				Name: "data", MountPath: "/data", ReadOnly: true,
				PersistentVolumeClaim: &corev1.LocalObjectReference{Name: "data"},
			},
		},
	}
}

// SecretFirst puts a Secret at the beginning of the volumes, of which the schema's tests see
// the first.
func SecretFirst(s *commonv1.PodSettings) { slices.Reverse(s.ExtraVolumes[:2]) }

func files(name string) *commonv1.VolumeFiles {
	return &commonv1.VolumeFiles{Name: name, Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt", Mode: new(int32(0o400))}}}
}

func twice() *commonv1.VolumeFiles {
	return &commonv1.VolumeFiles{Name: "a", Items: []corev1.KeyToPath{{Key: "a", Path: "a"}, {Key: "a", Path: "b"}}}
}

func (s Service[T]) changingPods(change func(*commonv1.PodSettings)) func(T) {
	return s.changing(func(spec *commonv1.ServiceSpec) { change(&spec.PodSettings) })
}

func tolerating(toleration corev1.Toleration) func(*commonv1.PodSettings) {
	return func(s *commonv1.PodSettings) { s.Tolerations = []corev1.Toleration{toleration} }
}

func withEnv(env ...corev1.EnvVar) func(*commonv1.PodSettings) {
	return func(s *commonv1.PodSettings) { s.ExtraEnv = env }
}

func secretKey(name, key string) *corev1.SecretKeySelector {
	return &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key}
}

func variableOf(secret *corev1.SecretKeySelector) corev1.EnvVar {
	return corev1.EnvVar{Name: "TOKEN", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: secret}}
}

func withVolumes(volumes ...commonv1.ExtraVolume) func(*commonv1.PodSettings) {
	return func(s *commonv1.PodSettings) { s.ExtraVolumes = volumes }
}

func mountedAt(path string) func(*commonv1.PodSettings) {
	return withVolumes(commonv1.ExtraVolume{Name: "ca", MountPath: path, ConfigMap: &commonv1.VolumeFiles{Name: "corporate-ca"}})
}

func aliases(ip string, names ...string) func(*commonv1.PodSettings) {
	return func(s *commonv1.PodSettings) { s.HostAliases = []corev1.HostAlias{{IP: ip, Hostnames: names}} }
}

// PodsAccepted are settings of pods that are just within bounds.
var PodsAccepted = map[string]func(*commonv1.PodSettings){
	"every taint tolerated":        tolerating(corev1.Toleration{Operator: corev1.TolerationOpExists}),
	"a taint tolerated by its key": tolerating(corev1.Toleration{Key: "infra"}),
	"a host alias of IPv6":         aliases("2001:db8::1", "ldap"),
	"a variable of a Secret":       withEnv(variableOf(secretKey("token", "token"))),
	"a variable of the pod": withEnv(corev1.EnvVar{Name: "NODE", ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"},
	}}),
	"a directory beside that of the service": mountedAt("/etc/keystone-extra"),
	"a claim that is written to": withVolumes(commonv1.ExtraVolume{
		Name: "data", MountPath: "/var/lib/extra", PersistentVolumeClaim: &corev1.LocalObjectReference{Name: "data"},
	}),
	"two directories side by side": withVolumes(
		commonv1.ExtraVolume{Name: "a", MountPath: "/extra/a", ConfigMap: &commonv1.VolumeFiles{Name: "a"}},
		commonv1.ExtraVolume{Name: "b", MountPath: "/extra/b", Secret: &commonv1.VolumeFiles{Name: "b"}}),
}

// PodViolations break the rules of the settings of pods below the path.
func PodViolations[T client.Object](path string, of func(func(*commonv1.PodSettings)) func(T)) []Violation[T] {
	labels := func(labels map[string]string) func(*commonv1.PodSettings) {
		return func(s *commonv1.PodSettings) { s.PodLabels = labels }
	}
	return []Violation[T]{
		{
			path + ": a node label that cannot exist", of(func(s *commonv1.PodSettings) { s.NodeSelector = map[string]string{"a b": ""} }),
			path + ".nodeSelector", "name part must consist of alphanumeric characters", "", "",
		},
		{
			path + ": an unknown operator of a toleration", of(tolerating(corev1.Toleration{Key: "a", Operator: "Near"})),
			path + ".tolerations[0].operator", "Unsupported value", "", "",
		},
		{
			path + ": a toleration of any value with one", of(tolerating(corev1.Toleration{Key: "a", Operator: "Exists", Value: "b"})),
			path + ".tolerations[0].value", "value must be empty when operator is Exists", "", "",
		},
		{
			path + ": a toleration of no key", of(tolerating(corev1.Toleration{Value: "b"})),
			path + ".tolerations[0].operator", "operator must be Exists when key is empty", "", "",
		},
		{
			path + ": an unknown effect of a taint", of(tolerating(corev1.Toleration{Key: "a", Effect: "Evict"})),
			path + ".tolerations[0].effect", "Unsupported value", "", "",
		},
		{
			path + ": seconds without eviction", of(tolerating(corev1.Toleration{Key: "a", TolerationSeconds: new(int64(1))})),
			path + ".tolerations[0].effect", "effect must be NoExecute when tolerationSeconds is set", "", "",
		},
		{
			path + ": a taint that cannot exist", of(tolerating(corev1.Toleration{Key: "a b"})),
			path + ".tolerations[0].key", "name part must consist of alphanumeric characters", "", "",
		},
		{
			path + ": a runtime class that cannot exist", of(func(s *commonv1.PodSettings) { s.RuntimeClassName = new("Not_A_Name") }),
			path + ".runtimeClassName", "RFC 1123 subdomain", "", "",
		},
		{
			path + ": a host alias of no address", of(aliases("ldap", "ldap")),
			path + ".hostAliases[0].ip", "must be an IP address", "", "",
		},
		{
			path + ": a host alias that is no name", of(aliases("192.0.2.1", "not_a_name")),
			path + ".hostAliases[0].hostnames[0]", "RFC 1123 subdomain", "", "",
		},
		{
			path + ": two aliases of a host", of(func(s *commonv1.PodSettings) {
				s.HostAliases = []corev1.HostAlias{{IP: "192.0.2.1"}, {IP: "192.0.2.1"}}
			}),
			path + ".hostAliases[1]", "Duplicate value", "Duplicate value", "",
		},
		{
			path + ": a pod label that cannot exist", of(labels(map[string]string{"a": "b c"})),
			path + ".podLabels", "a valid label must be", "", "",
		},
		{
			path + ": a pod label of the operator", of(labels(map[string]string{"app.kubernetes.io/name": "a"})),
			path + ".podLabels[app.kubernetes.io/name]", "those of app.kubernetes.io are set by the operator", "", "",
		},
		{
			path + ": a pod annotation that cannot exist", of(func(s *commonv1.PodSettings) { s.PodAnnotations = map[string]string{"a b": ""} }),
			path + ".podAnnotations", "name part must consist of alphanumeric characters", "", "",
		},
		{
			path + ": a pod annotation of the operator", of(func(s *commonv1.PodSettings) {
				s.PodAnnotations = map[string]string{"forge.c5c3.io/image": "a"}
			}),
			path + ".podAnnotations[forge.c5c3.io/image]", "those of c5c3.io are set by the operator", "", "",
		},
		{
			path + ": a Service annotation of the operator", of(func(s *commonv1.PodSettings) {
				s.ServiceAnnotations = map[string]string{"c5c3.io/a": "a"}
			}),
			path + ".serviceAnnotations[c5c3.io/a]", "those of c5c3.io are set by the operator", "", "",
		},
		{
			path + ": a ServiceAccount annotation of the operator", of(func(s *commonv1.PodSettings) {
				s.ServiceAccountAnnotations = map[string]string{"c5c3.io/a": "a"}
			}),
			path + ".serviceAccountAnnotations[c5c3.io/a]", "those of c5c3.io are set by the operator", "", "",
		},
		{
			path + ": a label of the pods of Deployments", of(labels(map[string]string{"pod-template-hash": "a"})),
			path + ".podLabels[pod-template-hash]", "Kubernetes sets it itself", "", "",
		},
		{
			path + ": a label of the pods of Jobs", of(labels(map[string]string{"batch.kubernetes.io/job-name": "a"})),
			path + ".podLabels[batch.kubernetes.io/job-name]", "are set by the operator or by Kubernetes", "", "",
		},
		{
			path + ": a variable that cannot exist", of(withEnv(corev1.EnvVar{Name: "a=b"})),
			path + ".extraEnv[0].name", "environment variable name", "", "",
		},
		{
			path + ": a variable twice", of(withEnv(corev1.EnvVar{Name: "A"}, corev1.EnvVar{Name: "A"})),
			path + ".extraEnv[1]", "Duplicate value", "Duplicate value", "",
		},
		{
			path + ": a variable that is an option", of(withEnv(corev1.EnvVar{Name: "OS_DATABASE__CONNECTION", Value: "sqlite://"})),
			path + ".extraEnv[0].name", "use extraConfig for options of the service", "", "",
		},
		{
			path + ": a variable of uWSGI", of(withEnv(corev1.EnvVar{Name: "UWSGI_HTTP", Value: ":80"})),
			path + ".extraEnv[0].name", "uwsgi for those of uWSGI", "", "",
		},
		{
			path + ": a variable of a value and a source", of(withEnv(corev1.EnvVar{Name: "A", Value: "a", ValueFrom: &corev1.EnvVarSource{}})),
			path + ".extraEnv[0].valueFrom", "set value or valueFrom, not both", "", "",
		},
		{
			path + ": a variable of no source", of(withEnv(corev1.EnvVar{Name: "A", ValueFrom: &corev1.EnvVarSource{}})),
			path + ".extraEnv[0].valueFrom", "exactly one of secretKeyRef, configMapKeyRef", "", "",
		},
		{
			path + ": a variable of two sources", of(withEnv(corev1.EnvVar{Name: "A", ValueFrom: &corev1.EnvVarSource{
				FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}, SecretKeyRef: secretKey("token", "token"),
			}})),
			path + ".extraEnv[0].valueFrom", "exactly one of secretKeyRef, configMapKeyRef", "", "",
		},
		{
			path + ": a variable of a Secret that cannot exist", of(withEnv(variableOf(secretKey("Not_A_Name", "token")))),
			path + ".extraEnv[0].valueFrom.secretKeyRef.name", "RFC 1123 subdomain", "", "",
		},
		{
			path + ": a variable of a key that cannot exist", of(withEnv(variableOf(secretKey("token", "a/b")))),
			path + ".extraEnv[0].valueFrom.secretKeyRef.key", "a valid config key", "", "",
		},
		{
			path + ": a variable of the scripts", of(withEnv(corev1.EnvVar{Name: "SECRET_NAME", Value: "other"})),
			path + ".extraEnv[0].name", "the operator sets SECRET_NAME", "", "",
		},
		{
			path + ": a volume of no source", of(withVolumes(commonv1.ExtraVolume{Name: "ca", MountPath: "/extra"})),
			path + ".extraVolumes[0]", "exactly one of configMap, secret or persistentVolumeClaim must be set",
			"exactly one of configMap, secret or persistentVolumeClaim must be set", "",
		},
		{
			path + ": a volume without a name", of(withVolumes(commonv1.ExtraVolume{MountPath: "/extra", ConfigMap: files("a")})),
			path + ".extraVolumes[0].name", "RFC 1123 label", TooShort, "",
		},
		{
			path + ": a volume twice", of(withVolumes(
				commonv1.ExtraVolume{Name: "a", MountPath: "/a", ConfigMap: files("a")},
				commonv1.ExtraVolume{Name: "a", MountPath: "/b", ConfigMap: files("a")})),
			path + ".extraVolumes[1]", "Duplicate value", "Duplicate value", "",
		},
		{
			path + ": a volume of a ConfigMap that cannot exist", of(withVolumes(
				commonv1.ExtraVolume{Name: "a", MountPath: "/a", ConfigMap: &commonv1.VolumeFiles{Name: "Not_A_Name"}})),
			path + ".extraVolumes[0].configMap.name", "RFC 1123 subdomain", "", "",
		},
		{
			path + ": a file that cannot exist", of(withVolumes(commonv1.ExtraVolume{Name: "a", MountPath: "/a", Secret: &commonv1.VolumeFiles{
				Name: "a", Items: []corev1.KeyToPath{{Key: "a/b", Path: "a"}},
			}})),
			path + ".extraVolumes[0].secret.items[0].key", "a valid config key", "", "",
		},
		{
			path + ": a file outside of its volume", of(withVolumes(commonv1.ExtraVolume{Name: "a", MountPath: "/a", Secret: &commonv1.VolumeFiles{
				Name: "a", Items: []corev1.KeyToPath{{Key: "a", Path: "../a"}},
			}})),
			path + ".extraVolumes[0].secret.items[0].path", "must be a path below mountPath", "", "",
		},
		{
			path + ": an entry of a ConfigMap twice", of(withVolumes(commonv1.ExtraVolume{Name: "a", MountPath: "/a", ConfigMap: twice()})),
			path + ".extraVolumes[0].configMap.items[1]", "Duplicate value", "Duplicate value", "",
		},
		{
			path + ": an entry of a Secret twice", of(withVolumes(commonv1.ExtraVolume{Name: "a", MountPath: "/a", Secret: twice()})),
			path + ".extraVolumes[0].secret.items[1]", "Duplicate value", "Duplicate value", "",
		},
		{
			path + ": a claim that cannot exist", of(withVolumes(commonv1.ExtraVolume{
				Name: "a", MountPath: "/a", PersistentVolumeClaim: &corev1.LocalObjectReference{Name: "Not_A_Name"},
			})),
			path + ".extraVolumes[0].persistentVolumeClaim.name", "RFC 1123 subdomain", "", "",
		},
		{
			path + ": a relative directory", of(mountedAt("extra")),
			path + ".extraVolumes[0].mountPath", "must be an absolute path", NoMatch, "",
		},
		{
			path + ": a directory above another", of(mountedAt("/extra/..")),
			path + ".extraVolumes[0].mountPath", "must be an absolute path", "", "",
		},
		{
			path + ": the directory of the scripts", of(mountedAt("/scripts")),
			path + ".extraVolumes[0].mountPath", "in use: /scripts", "", "",
		},
		{
			path + ": a directory that holds the configuration", of(mountedAt("/etc")),
			path + ".extraVolumes[0].mountPath", "in use: /etc/", "", "",
		},
		{
			path + ": a directory of the system", of(mountedAt("/proc/self")),
			path + ".extraVolumes[0].mountPath", "in use: /proc", "", "",
		},
		{
			path + ": a directory in another volume", of(withVolumes(
				commonv1.ExtraVolume{Name: "a", MountPath: "/extra", ConfigMap: files("a")},
				commonv1.ExtraVolume{Name: "b", MountPath: "/extra/b", ConfigMap: files("b")})),
			path + ".extraVolumes[1].mountPath", "in use: /extra", "", "",
		},
	}
}
