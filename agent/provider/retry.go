package provider

import (
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"pi/agent/llm"
)

// isRetryable tells whether the same request may succeed later. A limit that
// waiting does not lift is final whatever its status; then the server's own word
// counts, then the status, and inside a stream, which has none, what it says.
func isRetryable(e *llm.ProviderError, h http.Header) bool {
	if isOutOfQuota(e) || isTooLargeForRate(e) {
		return false
	}
	switch h.Get("X-Should-Retry") {
	case "true":
		return true
	case "false":
		return false
	}
	switch {
	case e.Status == http.StatusRequestTimeout, e.Status == http.StatusConflict, e.Status == http.StatusTooEarly,
		e.Status == http.StatusTooManyRequests, e.Status >= 500:
		return true
	case e.Status != 0:
		return false
	}
	return e.Type == "" && e.Code == "" || e.Code == "error" || isTransient(e)
}

// isTransient reports whether type or code of an error are words for a fault that
// passes by itself.
func isTransient(e *llm.ProviderError) bool {
	switch e.Type {
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE", "MISSING_THOUGHT_SIGNATURE",
		"OTHER", "IMAGE_OTHER", "NO_IMAGE": // answers of Gemini that went wrong by themselves
		return true
	}
	return hasAny(strings.ToLower(e.Type+"\n"+e.Code), []string{
		"overloaded", "api_error", "rate_limit", "server_error", "internal", "timeout", "timed_out", "unavailable", "exhausted",
		"throttl", "network_error", "insufficient_system_resource", "too_many_requests", "capacity", "deadline_exceeded",
	})
}

// isOutOfQuota reports whether an error is about a limit that waiting does not lift,
// such as credit that is used up.
func isOutOfQuota(e *llm.ProviderError) bool {
	if e.Status == http.StatusPaymentRequired {
		return true
	}
	words := strings.ToLower(e.Type + "\n" + e.Code)
	return hasAny(words, []string{
		"insufficient_quota", "exceeded_current_quota", "billing", "insufficient_balance", "insufficient_credit", "arrearage", "usage_limit",
		perDay,
	}) || hasAny(strings.ToLower(e.Message), []string{
		"credit balance is too low", "insufficient balance", "insufficient_balance", "insufficient credit", "insufficient_quota", "out of credits",
		"usage limit reached", "billing_hard_limit_reached",
	})
}

// isTooLargeForRate reports whether a single request is larger than what may be sent in
// a minute: it does not become smaller by waiting.
func isTooLargeForRate(e *llm.ProviderError) bool {
	if e.Status == http.StatusRequestEntityTooLarge {
		return hasAny(strings.ToLower(e.Type+"\n"+e.Code+"\n"+e.Message), rateWords())
	}
	return e.Status == http.StatusTooManyRequests && strings.Contains(strings.ToLower(e.Message), "request too large")
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

// number parses a number of units as a time. It reports false for a negative one and
// for what is no number.
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

// perDay marks an error by whose details a day's quota is used up.
const perDay = "quota_per_day"

// findDelay finds a time to wait in a message, such as "try again in 1m2.5s" or
// "retry after 26 seconds"; 0: none.
func findDelay(message string) time.Duration {
	const amount = `(\d+(?:\.\d+)?)\s*(milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h|days?|d)\b`
	found := regexp.MustCompile(`(?i)\b(?:try again|retry)\s+(?:in|after)\s+((?:\d+(?:\.\d+)?\s*[a-z]+\s*)+)`).FindStringSubmatch(message)
	if found == nil {
		return 0
	}
	var total time.Duration
	// Units follow numbers without a gap, so a word ends where a digit begins.
	spaced := regexp.MustCompile(`([a-zA-Z])(\d)`).ReplaceAllString(found[1], "$1 $2")
	for _, m := range regexp.MustCompile(`(?i)`+amount).FindAllStringSubmatch(spaced, -1) {
		if d, ok := number(m[1], unitOf(strings.ToLower(m[2]))); ok && total+d >= total {
			total += d
		}
	}
	return total
}

// unitOf is the unit that a word in lower case names.
func unitOf(word string) time.Duration {
	switch {
	case strings.HasPrefix(word, "ms"), strings.HasPrefix(word, "milli"):
		return time.Millisecond
	case word[0] == 'm':
		return time.Minute
	case word[0] == 'h':
		return time.Hour
	case word[0] == 'd':
		return 24 * time.Hour
	}
	return time.Second
}
