//go:build unix

package e2e

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// cloudSettings are those of the guide to models for clouds, with the host at each address
// another, and commands that print a token without asking anybody.
func cloudSettings(t testing.TB, url string) string {
	t.Helper()
	_, section, _ := strings.Cut(mustRead(t, inModule("docs/models.md")), "\n## Models on Azure, Google Cloud and Bedrock\n")
	block := regexp.MustCompile("(?s)```toml\n(.*?)```").FindStringSubmatch(section)
	if block == nil {
		t.Fatal("the guide has no settings for clouds")
	}
	hosts := regexp.MustCompile(`"https://[^/"]+/`)
	if n := len(hosts.FindAllString(block[1], -1)); n != 4 {
		t.Fatalf("%d addresses, want 4:\n%s", n, block[1])
	}
	return strings.ReplaceAll(hosts.ReplaceAllString(block[1], `"`+url+`/`), "!gcloud auth print-access-token", "!echo cloud-token")
}

// The settings of the guide ask each cloud where it is asked, with the key as it takes it and
// nothing that it does not know.
func TestTheSettingsOfTheGuideReachClouds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model, api, path string
		header           map[string]string // "" is one that is not there
		body, never      string
	}{
		{"bedrock/anthropic.claude-sonnet-5-5:high", "anthropic-messages", "/anthropic/v1/messages",
			map[string]string{"X-Api-Key": "cloud-key", "Anthropic-Version": "2023-06-01", "Authorization": "", "Anthropic-Beta": "thinking-binding-controls-2026-08-01"},
			`"model":"anthropic.claude-sonnet-5-5","max_tokens":128000,"stream":true,"thinking":{"type":"adaptive","display":"summarized","block_binding":{"prefix_mismatch_behavior":"drop_block"}},"output_config":{"effort":"high"}`, "eager_input_streaming"},
		{"bedrock/anthropic.claude-sonnet-5-5:off", "anthropic-messages", "/anthropic/v1/messages",
			map[string]string{"X-Api-Key": "cloud-key", "Anthropic-Beta": ""}, `"thinking":{"type":"between_tools"}`, "block_binding"},
		{"azure/gpt-6:high", "openai-responses", "/openai/v1/responses",
			map[string]string{"Api-Key": "cloud-key", "Session-Id": ""}, `"model":"gpt-6"`, "prompt_cache_options"},
		{"google-vertex/gemini-3.5-flash", "google-generative-ai", "/v1/projects/PROJECT/locations/global/publishers/google/models/gemini-3.5-flash:streamGenerateContent",
			map[string]string{"Authorization": "Bearer cloud-token", "X-Goog-Api-Key": ""}, `"contents":`, `"model":`},
		{"google-vertex-anthropic/claude-opus-5-5:high", "anthropic-messages", "/v1/projects/PROJECT/locations/global/publishers/anthropic/models/claude-opus-5-5:streamRawPredict",
			map[string]string{"Authorization": "Bearer cloud-token", "X-Api-Key": "", "Anthropic-Beta": "thinking-binding-controls-2026-08-01"},
			`"anthropic_version":"vertex-2023-10-16"`, `"model":`},
	} {
		t.Run(c.model, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.env = append(w.env, "AWS_BEARER_TOKEN_BEDROCK=cloud-key", "AZURE_OPENAI_API_KEY=cloud-key")
			asked := w.cloud(c.api)
			w.says([]string{"--model", c.model, "-p", "hello"}, "It is cloudy.")
			if len(*asked) != 1 {
				t.Fatalf("%d requests", len(*asked))
			}
			is := (*asked)[0]
			if is.path != c.path {
				t.Errorf("asked at %s, want %s", is.path, c.path)
			}
			for name, want := range c.header {
				if got := is.header.Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			if !strings.Contains(string(is.body), c.body) || strings.Contains(string(is.body), c.never) {
				t.Errorf("it has no %s, or it has %s:\n%.800s", c.body, c.never, is.body)
			}
		})
	}
}

// cloud gives a world the settings of the guide, and a server that stands for all of its clouds
// and answers by an API, wherever it is asked.
func (w *world) cloud(api string) *[]modelRequest {
	var asked []modelRequest
	s := newModelServer(api, "text It is cloudy.", "")
	w.t.Cleanup(s.http.Close)
	front := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		if r.URL.Path = apiPaths()[api]; api == "google-generative-ai" {
			r.URL.Path = "/v1" + path[strings.LastIndex(path, "/models/"):]
		}
		s.ServeHTTP(rw, r)
		for _, is := range s.asked()[len(asked):] {
			is.path = path
			asked = append(asked, is)
		}
	}))
	w.t.Cleanup(front.Close)
	w.write(w.agentFile("config.toml"), cloudSettings(w.t, front.URL))
	return &asked
}
