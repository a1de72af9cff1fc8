package wiretest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"pi/agent/llm"
)

// Decodes checks what a client makes of each recording of an API.
func Decodes(t *testing.T, api string, client func(*http.Client) llm.Provider) {
	for _, f := range Folders(t, api) {
		t.Run(f.ID, func(t *testing.T) {
			replay := f.Client(func() io.Reader { return bytes.NewReader(f.Body) })
			f.Check(t, f.Ask(client(replay), "http://model.test"))
		})
	}
}

// DecodesOverHTTP does the same with a server that gives the recordings.
func DecodesOverHTTP(t *testing.T, api string, client func(*http.Client) llm.Provider) {
	for _, f := range Folders(t, api) {
		t.Run(f.ID, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				for name, value := range f.Headers {
					w.Header().Set(name, value)
				}
				w.WriteHeader(f.Status)
				w.Write(f.Body)
			}))
			defer server.Close()
			f.Check(t, f.Ask(client(server.Client()), server.URL))
		})
	}
}
