package google

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"pi/agent/provider/wiretest"
)

const recordedAPI = "google-generative"

func TestRecordedAnswersDecode(t *testing.T) {
	for _, f := range wiretest.Folders(t, recordedAPI) {
		t.Run(f.ID, func(t *testing.T) {
			client := f.Client(func() io.Reader { return bytes.NewReader(f.Body) })
			f.Check(t, f.Ask(New(client), "http://model.test"))
		})
	}
}

func TestRecordedAnswersDecodeOverHTTP(t *testing.T) {
	for _, f := range wiretest.Folders(t, recordedAPI) {
		t.Run(f.ID, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				for name, value := range f.Headers {
					w.Header().Set(name, value)
				}
				w.WriteHeader(f.Status)
				w.Write(f.Body)
			}))
			defer server.Close()
			f.Check(t, f.Ask(New(server.Client()), server.URL))
		})
	}
}
