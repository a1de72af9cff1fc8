package provider

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// errorBody is a server's description of a failure, out of any of the shapes that
// occur:
//
//	{"error": {"message", "type", "code", "status_code", "metadata": {"raw"}}}
//	{"error": {"message", "status": "RESOURCE_EXHAUSTED", "code": 429}}
//	{"type": "error", "error": {…}}       [{"error": {…}}]
//	{"error": "text", "code": "text"}     {"message": "text", …}
//	{"detail": "text"}                    {"detail": [{"msg": "text"}]}
//	{"error": {"code": 429, "message", "status", "details": […]}}
//	{"errors": [{"message"}]}             {"base_resp": {"status_code", "status_msg"}}
//	a page of HTML, plain text, nothing
type errorBody struct {
	Type, Code, Message string
	Status              int // an HTTP status that the body names; 0: none
	HTML                bool
	RetryAfter          time.Duration // that the body asks to wait; 0: it does not say
}

type errorObject struct {
	Error      json.RawMessage `json:"error"`
	Message    json.RawMessage `json:"message"`
	Msg        string          `json:"msg"`
	StatusMsg  string          `json:"status_msg"`
	Detail     json.RawMessage `json:"detail"`
	Errors     json.RawMessage `json:"errors"`
	BaseResp   json.RawMessage `json:"base_resp"`
	Details    json.RawMessage `json:"details"`
	Type       any             `json:"type"`
	Code       any             `json:"code"`
	Status     any             `json:"status"`
	StatusCode any             `json:"status_code"`
	Metadata   struct {
		Raw any `json:"raw"`
	} `json:"metadata"`
}

// parseErrorBody reads a body. It reports whether the body has the shape of an
// error; Message is filled as well as possible in any case.
func parseErrorBody(body []byte) (errorBody, bool) {
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		return errorBody{}, false
	}
	if body[0] == '<' {
		return errorBody{Message: pageTitle(body), HTML: true}, true
	}
	if e, ok := parseErrorJSON(body, 0); ok {
		return e, true
	}
	return errorBody{Message: string(body)}, false
}

// parseErrorJSON finds the description of an error in a JSON text without white space
// around it, and reports whether there is one. depth counts the objects and lists around
// the text; below four of them it looks no further.
func parseErrorJSON(body []byte, depth int) (errorBody, bool) {
	if depth > 4 || len(body) == 0 {
		return errorBody{}, false
	}
	switch body[0] {
	case '"':
		var s string
		err := json.Unmarshal(body, &s)
		return errorBody{Message: s}, err == nil && s != ""
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(body, &list) != nil || len(list) == 0 {
			return errorBody{}, false
		}
		return parseErrorJSON(list[0], depth+1)
	}
	var o errorObject
	// A field of an unexpected type leaves the others readable.
	if err := json.Unmarshal(body, &o); err != nil && o.Error == nil && o.Message == nil && o.Detail == nil && o.Errors == nil {
		return errorBody{}, false
	}
	return o.read(depth)
}

// read returns the innermost description, completed by what the objects around it have.
func (o *errorObject) read(depth int) (errorBody, bool) {
	e := errorBody{Message: cmp.Or(o.Msg, o.StatusMsg)}
	ok := e.Message != ""
	for _, inner := range []json.RawMessage{o.Error, o.Message, o.Detail, o.Errors, o.BaseResp} {
		if ok {
			break
		}
		e, ok = parseErrorJSON(inner, depth+1)
	}
	if !ok {
		return e, false
	}
	if e.Type == "" && word(o.Type) != "error" {
		e.Type = word(o.Type)
	}
	if name, _ := o.Status.(string); e.Type == "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "" {
		e.Type = name // Google's name of a status, not something else in that place
	}
	if e.Code == "" {
		e.Code = word(o.Code)
	}
	e.readDetails(o.Details)
	if raw := word(o.Metadata.Raw); raw != "" {
		e.Message += ": " + raw
	}
	for _, n := range []any{o.StatusCode, o.Code, o.Status} {
		if status, err := strconv.Atoi(word(n)); err == nil && e.Status == 0 && status >= 400 && status < 600 {
			e.Status = status
		}
	}
	return e, true
}

// word returns a JSON string, or a number written as text; "" for anything else.
func word(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// pageTitle is the title of a page, else the beginning of its text.
func pageTitle(page []byte) string {
	titleTag := regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
	anyTag := regexp.MustCompile(`(?s)<(?:script|style)[^>]*>.*?</(?:script|style)>|<[^>]*>`)
	if m := titleTag.FindSubmatch(page); m != nil && len(bytes.TrimSpace(m[1])) > 0 {
		return strings.Join(strings.Fields(string(m[1])), " ")
	}
	return clip([]byte(strings.Join(strings.Fields(string(anyTag.ReplaceAll(page, []byte(" ")))), " ")))
}

// errorDetail is one of the details of an error as Google writes them.
type errorDetail struct {
	RetryDelay string `json:"retryDelay"` // "34.07s"
	Violations []struct {
		QuotaID string `json:"quotaId"`
	} `json:"violations"`
}

// readDetails sets from the details of an error how long to wait, and marks an error
// for which waiting does not help, because a day's quota is used up.
func (e *errorBody) readDetails(raw json.RawMessage) {
	var details []errorDetail
	if json.Unmarshal(raw, &details) != nil {
		return
	}
	for _, d := range details {
		if seconds, ok := strings.CutSuffix(d.RetryDelay, "s"); ok {
			e.RetryAfter, _ = number(seconds, time.Second)
		}
		for _, v := range d.Violations {
			if strings.Contains(v.QuotaID, "PerDay") {
				e.Code = perDay
			}
		}
	}
}

// clip returns the beginning of a text, short enough for an error message.
func clip(b []byte) string {
	const most = 200
	if len(b) > most {
		return strings.ToValidUTF8(string(b[:most]), "") + " …"
	}
	return string(b)
}
