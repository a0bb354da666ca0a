package transport

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

// delayed is how many calls there are for each one that is held up. A few
// late ones change the order of what happens more than many do.
const delayed = 5

// Delay holds up some of the client's calls and some of what its watches tell,
// each by up to longest, as a busy machine does: what a test takes to have
// happened already then has not.
func Delay(cfg *rest.Config, longest time.Duration) {
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
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

// lateBody is an answer that comes in pieces.
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
