package expect

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

// OK returns an error unless the server answers a GET of the URL with status 200. The
// error has the body of any other answer.
func OK(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %d: %s", url, response.StatusCode, body)
	}
	return nil
}
