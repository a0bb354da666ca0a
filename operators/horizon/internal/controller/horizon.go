package controller

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/kit"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/serviceconfig"
	horizonv1alpha1 "github.com/c5c3/forge/operators/horizon/api/v1alpha1"
)

const (
	// configDir is where openstack_dashboard.local finds local_settings.py.
	configDir = "/etc/openstack-dashboard/"
	// loginPath is the page that everyone may see.
	loginPath = "/auth/login/"
	// staticFiles is where the image has the compressed static files.
	staticFiles = "/var/lib/openstack-dashboard/static"
	// uploadDir is where files wait that users upload.
	uploadDir = "/var/lib/openstack-dashboard/uploads"
)

// uploadSize is how much of them a pod takes at the same time.
var uploadSize = resource.MustParse("2Gi")

// definition describes the Horizon service.
var definition = service.Definition{
	Kind: horizonv1alpha1.Kind, CodeName: horizonv1alpha1.AppName, Port: horizonv1alpha1.APIPort,
	UserID: 42424, ConfigDir: configDir,
	Application: service.Application{Distribution: "horizon", Module: "openstack_dashboard.wsgi:application"},
	// uWSGI serves static files itself.
	Environment: []corev1.EnvVar{{Name: "UWSGI_STATIC_MAP", Value: "/static=" + staticFiles}},
}

// steps are those that every service without a database has.
var steps = kit.Stateless[*scope]{}

// settings declares the configuration of a Horizon.
var settings = serviceconfig.Files[*scope]{
	Render: files,
	Field:  "spec.settings",
	Given: func(s *scope) any {
		if len(s.Resource.Spec.Settings) == 0 {
			return nil
		}
		return s.Resource.Spec.Settings
	},
	Command: []string{"python3", configDir + checkFile},
	Mounts:  mounts,
}

// api declares the pods that serve pages.
var api = steps.Pods(deployment.API[*scope]{
	HealthPath: loginPath,
	// Django answers only to the names that it knows, and not to the address of the pod.
	HealthHost: localHost,
	Endpoint:   endpoint,
	Mounts:     mounts,
	// Another key replaces the pods.
	Annotations: func(s *scope) map[string]string {
		return map[string]string{annotationKeyHash: secretKey.Value(s.Slots).Hash}
	},
})

// mounts has the key and the uploads: Django refuses a folder for them that does not exist.
func mounts(s *scope) []deployment.Mount {
	key := secretKey.Value(s.Slots)
	return []deployment.Mount{
		deployment.ProjectedMount("secret-key", keyDir, deployment.SecretProjection(key.Secret,
			corev1.KeyToPath{Key: key.Entry, Path: horizonv1alpha1.SecretKeyEntry})),
		deployment.ScratchMount("uploads", uploadDir, uploadSize),
	}
}
