package kill

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// registryClient speaks to a registry as its clients do.
type registryClient struct {
	url  string
	http http.Client
}

func newRegistryClient(addr string) *registryClient {
	return &registryClient{url: "http://" + addr, http: http.Client{Timeout: 20 * time.Second}}
}

// answered is a version as a registry answers it.
type answered struct {
	ID      int32  `json:"id"`
	Version int32  `json:"version"`
	Schema  string `json:"schema"`
	Deleted bool   `json:"deleted"`
}

// do gives the status and the body of an answer that arrived whole.
func (c *registryClient) do(ctx context.Context, method, path string, body any) (int, []byte, error) {
	var reader io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		reader = bytes.NewReader(b)
	}
	q, err := http.NewRequestWithContext(ctx, method, c.url+path, reader)
	if err != nil {
		return 0, nil, err
	}
	a, err := c.http.Do(q)
	if err != nil {
		return 0, nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil {
		return 0, nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	return a.StatusCode, b, nil
}

func (c *registryClient) good(ctx context.Context, method, path string, body, into any) error {
	status, b, err := c.do(ctx, method, path, body)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("%s %s: %d %s", method, path, status, b)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%s %s: %w: %s", method, path, err, b)
	}
	return nil
}

// setup has any schema follow any other.
func (c *registryClient) setup(ctx context.Context) error {
	return c.good(ctx, http.MethodPut, "/config", map[string]string{"compatibility": "NONE"}, nil)
}

func (c *registryClient) register(ctx context.Context, subject, text string) (id, version int32, err error) {
	var a answered
	err = c.good(ctx, http.MethodPost, "/subjects/"+subject+"/versions", map[string]string{"schema": text}, &a)
	return a.ID, a.Version, err
}

func (c *registryClient) remove(ctx context.Context, subject string, version int32) error {
	return c.good(ctx, http.MethodDelete, fmt.Sprintf("/subjects/%s/versions/%d", subject, version), nil, nil)
}
