package transport

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

// delayed is the number of calls per delayed one. A few late calls change the order
// of events more than many.
const delayed = 5

// Delay delays random calls of the client and random events of its watches by up to
// longest, like a busy machine, so that tests must not assume that something has
// already happened.
func Delay(cfg *rest.Config, longest time.Duration) {
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return Func(func(req *http.Request) (*http.Response, error) {
			holdUp(req.Context(), longest)
			resp, err := next.RoundTrip(req)
			if err == nil && Parse(req).Verb == "watch" {
				resp.Body = &lateBody{resp.Body, req.Context(), longest}
			}
			return resp, err
		})
	})
}

func holdUp(ctx context.Context, longest time.Duration) {
	if rand.IntN(delayed) != 0 {
		return
	}
	late := time.NewTimer(rand.N(longest))
	defer late.Stop()
	select {
	case <-ctx.Done():
	case <-late.C:
	}
}

// lateBody is a response body that arrives in delayed pieces.
type lateBody struct {
	io.ReadCloser
	ctx     context.Context
	longest time.Duration
}

func (b *lateBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	holdUp(b.ctx, b.longest)
	return n, err
}
