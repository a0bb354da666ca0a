package deployment

import (
	"slices"
	"testing"

	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
)

func TestUWSGIAcceptsLargeHeadersAndRefusesChunkedRequests(t *testing.T) {
	p := service.NewPass(&service.Tools{}, &instance.Definition, instance.Brownfield())
	found := map[string]string{}
	for _, variable := range (API[*service.Pass]{HealthPath: "/"}).container(p, nil).Env {
		found[variable.Name] = variable.Value
	}
	for name, want := range map[string]string{
		"UWSGI_BUFFER_SIZE": "65535", "UWSGI_SOCKET_TIMEOUT": "30",
		"UWSGI_ROUTE_IF_NOT": "empty:${HTTP_TRANSFER_ENCODING} break:411 Length Required",
	} {
		if found[name] != want {
			t.Errorf("%s is %q, want %q", name, found[name], want)
		}
	}
}

func TestAServiceWithLargeBodiesGetsChunkedOnesInManyThreads(t *testing.T) {
	definition := instance.Definition
	definition.LargeBodies = true
	p := service.NewPass(&service.Tools{}, &definition, instance.Brownfield())
	container, found := (API[*service.Pass]{HealthPath: "/"}).container(p, nil), map[string]string{}
	for _, variable := range container.Env {
		found[variable.Name] = variable.Value
	}
	if found["UWSGI_HTTP_CHUNKED_INPUT"] != "true" || found["UWSGI_ROUTE_IF_NOT"] != "" {
		t.Errorf("got %v", found)
	}
	if i := slices.Index(container.Command, "--threads"); container.Command[i+1] != "16" {
		t.Errorf("got %q", container.Command)
	}
}
