package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"time"
)

// pollPeriod is the interval for polling the progress of a load.
const pollPeriod = 200 * time.Millisecond

// stop waits until a load has sent the given number of requests, and then stops it.
func stop(ctx context.Context, args []string, end func() error) error {
	flags := flag.NewFlagSet("loadgen stop", flag.ContinueOnError)
	address := flags.String("address", "127.0.0.1:8080", "where the load serves its figures, see -listen")
	requests := flags.Int("requests", 0, "requests that it has to have sent before")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *requests > 0 {
		if err := awaitRequests(ctx, "http://"+*address, *requests); err != nil {
			return err
		}
	}
	return end()
}

// awaitRequests waits until the load has sent that many requests.
func awaitRequests(ctx context.Context, address string, wanted int) error {
	ticker := time.NewTicker(pollPeriod)
	defer ticker.Stop()
	for {
		sent, err := requestsSent(ctx, address)
		if err != nil || sent >= wanted {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("it has sent %d of %d requests", sent, wanted), ctx.Err())
		}
	}
}

// requestsSent fetches the figures of a load, which it sends with any status.
func requestsSent(ctx context.Context, url string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, fmt.Errorf("query the progress of the load: %w", err)
	}
	defer answer.Body.Close()
	var figures result
	if err := json.NewDecoder(answer.Body).Decode(&figures); err != nil {
		return 0, fmt.Errorf("read the figures of the load: %w", err)
	}
	return figures.Requests, nil
}
