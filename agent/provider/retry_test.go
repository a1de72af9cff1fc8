package provider

import (
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"

	"pi/agent/llm"
	"pi/internal/testing/wiretest"
)

func TestWhatIsWorthAskingAgain(t *testing.T) {
	cases := []struct {
		name   string
		status int // 0: in a stream
		body   string
		want   bool
	}{
		{"bad request", 400, ``, false}, {"key", 401, ``, false}, {"payment", 402, ``, false}, {"forbidden", 403, ``, false}, {"not found", 404, ``, false},
		{"timeout", 408, ``, true}, {"conflict", 409, ``, true}, {"too large", 413, ``, false}, {"validation", 422, ``, false}, {"too early", 425, ``, true},
		{"rate", 429, ``, true}, {"fault", 500, ``, true}, {"gateway", 502, `<html><title>Bad Gateway</title></html>`, true}, {"unavailable", 503, ``, true},
		{"gateway timeout", 504, ``, true}, {"origin down", 521, ``, true}, {"overloaded", 529, ``, true},
		{"quota", 429, `{"error":{"type":"insufficient_quota","message":"x"}}`, false},
		{"quota of Moonshot", 429, `{"error":{"type":"exceeded_current_quota_error","message":"Your account is suspended, please check your plan and billing details"}}`, false},
		{"credit of Anthropic", 400, `{"error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}`, false},
		{"balance of Z.ai", 429, `{"error":{"code":"1113","message":"Insufficient balance or no resource package. Please recharge."}}`, false},
		{"plan of Z.ai", 429, `{"error":{"code":"1308","message":"Usage limit reached for 5 hour. Your limit will reset at 2026-01-01"}}`, false},
		{"arrears at Alibaba", 400, `{"code":"Arrearage","message":"Access denied"}`, false},
		{"Gemini's minute", 429, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota, please check your plan and billing details.","details":[{"violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]},{"retryDelay":"3s"}]}}`, true},
		{"Gemini's day", 429, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota, please check your plan and billing details.","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"retryDelay":"3s"}]}}`, false},

		{"stream: overloaded", 0, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, true},
		{"stream: fault of Anthropic", 0, `{"type":"error","error":{"type":"api_error","message":"Internal server error"}}`, true},
		{"stream: rate", 0, `{"type":"error","error":{"type":"rate_limit_error","message":"x"}}`, true},
		{"stream: bad request", 0, `{"type":"error","error":{"type":"invalid_request_error","message":"x"}}`, false},
		{"stream: key", 0, `{"type":"error","error":{"type":"authentication_error","message":"x"}}`, false},
		{"stream: fault of OpenAI", 0, `{"code":"server_error","message":"x"}`, true},
		{"stream: rate of OpenAI", 0, `{"error":{"code":"rate_limit_exceeded","message":"x"}}`, true},
		{"stream: quota of OpenAI", 0, `{"error":{"code":"insufficient_quota","message":"x"}}`, false},
		{"stream: bad gateway at OpenRouter", 0, `{"error":{"code":502,"message":"Provider returned error"}}`, true},
		{"stream: bad request at OpenRouter", 0, `{"error":{"code":400,"message":"Provider returned error"}}`, false},
		{"stream: refused call at Groq", 0, `{"error":{"code":"tool_use_failed","message":"x","status_code":400}}`, false},
		{"stream: Gemini has no room", 0, `{"error":{"code":503,"status":"UNAVAILABLE","message":"overloaded"}}`, true},
		{"stream: Gemini's word alone", 0, `{"error":{"status":"UNAVAILABLE","message":"x"}}`, true},
		{"stream: Bedrock", 0, `{"error":{"type":"throttlingException","message":"x"}}`, true},
		{"stream: only words", 0, `{"error":"something broke"}`, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if e := answered(c.status, c.body); e.Retryable != c.want {
				t.Errorf("retryable %t: %+v", e.Retryable, e)
			}
		})
	}
}

func TestTheBodySaysHowLongToWait(t *testing.T) {
	cases := []struct {
		body string
		want time.Duration
	}{
		{`{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.07s"}],"message":"x"}}`, 34070 * time.Millisecond},
		{`[{"error":{"code":429,"details":[{"retryDelay":"2s"}],"message":"x"}}]`, 2 * time.Second},
		{`{"error":{"details":[{"retryDelay":"soon"}],"message":"x"}}`, 0},
		{`{"error":{"details":[{"retryDelay":"-3s"}],"message":"x"}}`, 0},
		{`{"error":{"message":"Rate limit reached. Please try again in 1.2s. Visit us"}}`, 1200 * time.Millisecond},
		{`{"error":{"message":"Please try again in 20ms."}}`, 20 * time.Millisecond},
		{`{"error":{"message":"Please try again in 6m0s."}}`, 6 * time.Minute},
		{`{"error":{"message":"Please try again in 1h2m3.5s."}}`, time.Hour + 2*time.Minute + 3500*time.Millisecond},
		{`{"error":{"message":"Please retry after 26 seconds. Please go here"}}`, 26 * time.Second},
		{`{"error":{"message":"Try again in 2 minutes"}}`, 2 * time.Minute},
		{`{"error":{"message":"Please retry in 34.07s."}}`, 34070 * time.Millisecond},
		{`{"error":{"message":"Please retry after 86400 seconds."}}`, 24 * time.Hour},
		{`{"error":{"message":"Please try again in 1d2h."}}`, 26 * time.Hour},
		{`{"error":{"message":"Try again in 2 days."}}`, 48 * time.Hour},
		{`{"error":{"message":"try again in a moment"}}`, 0},
		{`{"error":{"message":"try again in 3 requests"}}`, 0},
		{`{"error":{"message":"try again in 99999999999999999999999 days"}}`, 1<<63 - 1},
		{`{"error":{"message":"x"}}`, 0},
	}
	for _, c := range cases {
		if e := answered(429, c.body); e.RetryAfter != c.want {
			t.Errorf("%s: %v; want %v", c.body, e.RetryAfter, c.want)
		}
	}
	f := &faults{model: &llm.Model{}}
	if e := f.answer(429, http.Header{"Retry-After": {"3"}}, []byte(`{"message":"try again in 9s"}`)); e.RetryAfter != 3*time.Second {
		t.Errorf("the header comes first: %v", e.RetryAfter)
	}
}

func TestACodeIsAStatusOnlyWhereItCanBeOne(t *testing.T) {
	for code, want := range map[string]int{"400": 400, "529": 529, `"429"`: 429, "14": 0, "200": 0, "1261": 0, "429.5": 0, `"bad"`: 0} {
		if e := answered(0, `{"error":{"code":`+code+`,"message":"x"}}`); e.Status != want {
			t.Errorf("code %s: status %d; want %d", code, e.Status, want)
		}
	}
}

func TestAStatusIsATypeOnlyWhereItIsOneOfGoogle(t *testing.T) {
	for status, want := range map[string]string{"UNAVAILABLE": "UNAVAILABLE", "failed": "", "error 5": ""} {
		if e := answered(0, `{"error":{"status":"`+status+`","message":"x"}}`); e.Type != want {
			t.Errorf("status %s: type %q; want %q", status, e.Type, want)
		}
	}
}

func TestOnlyThisMachineRefusesForGood(t *testing.T) {
	refused := func(op, ip string) error {
		return &net.OpError{Op: op, Net: "tcp", Addr: &net.TCPAddr{IP: net.ParseIP(ip), Port: 1}, Err: syscall.ECONNREFUSED}
	}
	cases := []struct {
		err  error
		want bool
	}{
		{refused("dial", "127.0.0.1"), false},
		{refused("dial", "::1"), false},
		{refused("dial", "0.0.0.0"), false},
		{refused("dial", "93.184.216.34"), true},
		{refused("dial", "10.0.0.7"), true},
		{refused("proxyconnect", "127.0.0.1"), false},
		{refused("proxyconnect", "10.0.0.1"), true},
	}
	f := &faults{model: &llm.Model{Provider: "p"}}
	for _, c := range cases {
		if hint, retry := f.connectionHint(c.err); retry != c.want || hint == "" {
			t.Errorf("%v: %t, %q", c.err, retry, hint)
		}
	}
}

func TestRecordedRefusalsAreUnderstood(t *testing.T) {
	overflow := map[string]bool{"anthropic/error-400--claude-haiku-4-5-20251001": true, "openai/responses-error-400--gpt-5-nano": true}
	final := map[string]bool{"openai/responses-error-429--unknown": true} // no credit
	wait := map[string]time.Duration{
		"constructed/anthropic-messages--http-429-retry-after": 17 * time.Second,
		"constructed/google-generative--http-429-retry-info":   34070 * time.Millisecond,
		"google/error-429--unknown":                            34400 * time.Millisecond,
	}
	seen := 0
	for _, api := range []string{"anthropic-messages", "openai-chat", "openai-responses", "google-generative"} {
		for _, folder := range wiretest.Folders(t, api) {
			if folder.Status < 400 {
				continue
			}
			seen++
			h := http.Header{}
			for name, value := range folder.Headers {
				h.Set(name, value)
			}
			f := &faults{model: &llm.Model{Provider: "p", ID: "m"}}
			e := f.answer(folder.Status, h, folder.Body)
			retry := (folder.Status == 429 || folder.Status >= 500) && !final[folder.ID]
			if e.Overflow != overflow[folder.ID] || e.Retryable != retry || e.RetryAfter != wait[folder.ID] || e.Message == "" {
				t.Errorf("%s: overflow %t, retryable %t after %v: %v", folder.ID, e.Overflow, e.Retryable, e.RetryAfter, e)
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d recorded refusals", seen)
	}
}
