package kit_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/database/schema"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/kit"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
)

func TestAPIPodsHaveTheConnectionToTheirDatabase(t *testing.T) {
	p := instance.Pass(t, instance.Brownfield(), interceptor.Funcs{})
	service.Config.Put(p.Slots, service.Rendered{ConfigMap: "harbour-config-01234567"})
	database.Connection.Put(p.Slots, database.Proven(p, "url", "connection-hash"))
	steps := kit.Steps[*service.Pass]{Schema: schema.Schema{Database: database.Database{Section: "HARBOUR"}}}
	api := steps.Pods(deployment.API[*service.Pass]{Endpoint: func(*service.Pass) string { return "http://harbour" }})
	template := api.Deployment(p).Spec.Template
	isURL := func(v corev1.EnvVar) bool {
		return v.Name == "OS_HARBOUR__CONNECTION" && v.ValueFrom.SecretKeyRef != nil
	}
	if env := template.Spec.Containers[0].Env; !slices.ContainsFunc(env, isURL) {
		t.Errorf("the URL of the database is missing in %v", env)
	}
	if got := template.Annotations[database.HashAnnotation(p.Definition)]; got != "connection-hash" {
		t.Errorf("the pods do not change with the connection: %q", got)
	}
}
