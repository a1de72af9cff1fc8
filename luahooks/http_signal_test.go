package luahooks

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestASignalEndsARequestOfAHook(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/begun" {
			_, _ = io.WriteString(w, "data: one\n\n")
			w.(http.Flusher).Flush()
		}
		select {
		case <-r.Context().Done():
		case <-release:
		}
	}))
	defer server.Close()
	defer close(release)
	for _, c := range []struct{ name, call, want string }{
		{"get", `http.get(url, { signal = pi.signal{ timeout = 20 } })`, "cancelled"},
		{"post", `http.post(url, { body = "x", signal = pi.signal{ timeout = 20 } })`, "cancelled"},
		{"request", `http.request{ url = url, signal = pi.signal{ timeout = 20 } }`, "cancelled"},
		{"one that was cancelled", `http.get(url, { signal = done })`, "cancelled"},
		{"a stream", `http.stream{ url = url, signal = pi.signal{ timeout = 20 }, on_chunk = print }`, "cancelled"},
		{"a stream that has begun", `http.stream{ url = url .. "begun", signal = own, on_chunk = function() own.cancel() end }`, "cancelled"},
		{"no signal", `pcall(http.get, url, { signal = "x" })`, `option "signal" must be a signal such as ctx.signal, not a string`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, map[string]string{"a.lua": `local http = require "pi.http"
				pi.on("input", function(e, ctx)
					local url, own, done = "` + server.URL + `/", pi.signal(), pi.signal()
					done.cancel()
					local r, err = ` + c.call + `
					return { text = tostring(err) }
				end)`})
			if got := r.input("x"); !strings.Contains(got, c.want) {
				t.Errorf("got %q", got)
			}
		})
	}
}
