package oauth

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"pi/internal/printable"
)

// Answer is what an authorization server sends back by a browser.
type Answer struct {
	Code   string
	State  string
	Issuer string // who answers, if it says so (RFC 9207)

	failure, description string // why there is no code
}

// RefusedError is an answer that says no.
type RefusedError struct {
	Code        string // such as access_denied
	Description string // of the server, cleaned; it may be ""
}

func (e *RefusedError) Error() string {
	if e.Description == "" {
		return "sign in: the authorization server says " + e.Code
	}
	return fmt.Sprintf("sign in: the authorization server says %s: %s", e.Code, e.Description)
}

// refusal is the [RefusedError] of an answer; nil: it has a code.
func (a Answer) refusal() error {
	if a.failure == "" {
		return nil
	}
	return &RefusedError{printable.Short(printable.Line(a.failure)), printable.Short(printable.Line(a.description))}
}

// answerOf reads the query of the address that a browser is sent to. It reports false if that
// is no answer, or not the one to a request with this state.
func answerOf(query url.Values, state string) (Answer, bool) {
	a := Answer{Code: query.Get("code"), State: query.Get("state"), Issuer: query.Get("iss"), failure: query.Get("error"), description: query.Get("error_description")}
	return a, a.State == state && (a.Code != "" || a.failure != "")
}

// What is wrong with what somebody pasted.
var (
	errNoAnswer   = errors.New("that is no answer: paste the whole address that the browser ended at")
	errOtherState = errors.New("that is the answer to another sign-in; open the address above, and paste what that one leads to")
	errNeedsAll   = errors.New("this server names itself in its answer, so the code alone is not enough: paste the whole address")
)

// ParsePasted reads what a user pastes: the address that the browser ended at, its query, or the
// code alone, unless the server names itself in its answers.
func ParsePasted(line, state string, needsIssuer bool) (Answer, error) {
	line = strings.TrimSpace(line)
	_, query, isAddress := strings.Cut(line, "?")
	if !isAddress && strings.HasPrefix(line, "code=") {
		query, isAddress = line, true
	}
	if !isAddress {
		switch {
		case !isBareCode(line):
			return Answer{}, errNoAnswer
		case needsIssuer:
			return Answer{}, errNeedsAll
		}
		return Answer{Code: line, State: state}, nil
	}
	query, _, _ = strings.Cut(query, "#")
	values, err := url.ParseQuery(query)
	if err != nil || values.Get("code") == "" && values.Get("error") == "" {
		return Answer{}, errNoAnswer
	}
	answer, ok := answerOf(values, state)
	if !ok {
		return Answer{}, errOtherState
	}
	return answer, nil
}

// isBareCode reports whether a text may be a code alone: visible signs of ASCII without blanks, and
// nothing that begins like an address.
func isBareCode(text string) bool {
	outside := func(r rune) bool { return r <= ' ' || r > '~' }
	return text != "" && !strings.ContainsFunc(text, outside) && !strings.Contains(text, "://")
}
