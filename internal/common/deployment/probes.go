package deployment

import (
	_ "embed"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/c5c3/forge/internal/common/config"
	"github.com/c5c3/forge/internal/common/poddiag"
	"github.com/c5c3/forge/internal/common/service"
)

// ReadyFile is the name of the Python program, among the configuration files, that
// answers the readiness probe.
const ReadyFile = "ready.py"

//go:embed files/ready.py
var readyScript string

// ReadyScript returns the content of [ReadyFile] for the service: it reads a table of the
// database, looks for the others and sends a request to the API. Of a service without a
// database it only asks the API.
func (a API[S]) ReadyScript(d *service.Definition) string {
	script := config.SetConstant(readyScript, "VARIABLE", a.Backing.Variable)
	script = config.SetConstant(script, "TABLE", a.Table)
	script = config.SetConstant(script, "TABLES", append([]string{}, a.Tables...))
	script = config.SetConstant(script, "ADDRESS", fmt.Sprintf("http://127.0.0.1:%d%s", d.Port, a.HealthPath))
	return config.SetConstant(script, "PORT", readyPort.ContainerPort)
}

// readyPort is where [ReadyFile] answers. No Service, HTTPRoute or NetworkPolicy has it:
// only the kubelet needs it.
var readyPort = corev1.ContainerPort{Name: poddiag.ReadyPort, ContainerPort: 8081, Protocol: corev1.ProtocolTCP}

// readyVariables make uWSGI run [ReadyFile] in a process of its own, beside the workers
// (https://uwsgi-docs.readthedocs.io/en/latest/Mules.html). It is a fork of the process
// that has already imported the service, so it starts no interpreter.
func readyVariables(configDir string) []corev1.EnvVar {
	return []corev1.EnvVar{{Name: "UWSGI_MULE", Value: configDir + ReadyFile}}
}

// startupProbe allows five minutes for the first answer. It probes every second because
// most pods answer within three.
func (a API[S]) startupProbe(port int32) *corev1.Probe {
	get := &corev1.HTTPGetAction{Path: a.HealthPath, Port: intstr.FromInt32(port), Scheme: corev1.URISchemeHTTP}
	if a.HealthHost != "" {
		get.HTTPHeaders = []corev1.HTTPHeader{{Name: "Host", Value: a.HealthHost}}
	}
	return &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{HTTPGet: get},
		PeriodSeconds: 1, FailureThreshold: 300, TimeoutSeconds: 5, SuccessThreshold: 1,
	}
}

func livenessProbe(port int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:        corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(port)}},
		InitialDelaySeconds: 15, PeriodSeconds: 20, FailureThreshold: 3, TimeoutSeconds: 1, SuccessThreshold: 1,
	}
}

// readinessProbe takes a pod out of service within half a minute of losing its database
// (two periods and a timeout at worst), and within a minute of its last worker being
// stuck. The timeout is that of [ReadyFile] and a second for a busy node.
func readinessProbe() *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Path: "/", Port: intstr.FromString(readyPort.Name), Scheme: corev1.URISchemeHTTP,
		}},
		PeriodSeconds: 10, FailureThreshold: 2, TimeoutSeconds: 9, SuccessThreshold: 1,
	}
}
