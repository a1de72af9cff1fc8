package provider

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pi/agent"
)

// isRetryable tells whether the same request may succeed later.
func isRetryable(e *agent.ProviderError, h http.Header) bool {
	switch h.Get("X-Should-Retry") {
	case "true":
		return true
	case "false":
		return false
	}
	if isOutOfQuota(e) {
		return false
	}
	switch {
	case e.Status == http.StatusRequestTimeout, e.Status == http.StatusConflict,
		e.Status == http.StatusTooManyRequests, e.Status >= 500:
		return true
	case e.Status != 0:
		return false
	}
	// Inside a stream only words tell.
	switch e.Type {
	case "overloaded_error", "api_error", "rate_limit_error", "server_error", "timeout_error", "internal_error",
		// Ends of Gemini's answers that went wrong by themselves.
		"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE", "MISSING_THOUGHT_SIGNATURE",
		"OTHER", "IMAGE_OTHER", "NO_IMAGE":
		return true
	}
	switch e.Code {
	case "server_error", "rate_limit_exceeded", "network_error", "insufficient_system_resource", "error":
		return true
	}
	return e.Type == "" && e.Code == ""
}

// isOutOfQuota tells a limit that waiting does not lift.
func isOutOfQuota(e *agent.ProviderError) bool {
	for _, word := range []string{"insufficient_quota", "billing_hard_limit_reached", "insufficient_balance", "credit balance is too low"} {
		if strings.Contains(e.Type, word) || strings.Contains(e.Code, word) || strings.Contains(strings.ToLower(e.Message), word) {
			return true
		}
	}
	return e.Status == http.StatusPaymentRequired
}

// retryAfter reads how long the server asks to wait: retry-after-ms, or
// Retry-After in seconds or as a date. A past date or nonsense is 0.
func retryAfter(h http.Header) time.Duration {
	if d, ok := number(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	value := h.Get("Retry-After")
	if d, ok := number(value, time.Second); ok {
		return d
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now := time.Now()
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date // the server's clock, if it tells
	}
	return max(0, at.Sub(now))
}

func number(s string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(n) || n < 0 {
		return 0, false
	}
	if n > float64(math.MaxInt64/unit) {
		return math.MaxInt64, true
	}
	return time.Duration(n * float64(unit)), true
}
