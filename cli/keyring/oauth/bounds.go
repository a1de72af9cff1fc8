package oauth

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
)

// A server may write any number of seconds, as a number or as text. The library panics on an
// interval below zero, computes with a life of any length, and takes no fraction. So the numbers are
// brought into their bounds before it sees them.

// bounds are those of one field, in seconds; one that is not there or no number is usual, 0: left out.
type bounds struct {
	field              string
	least, most, usual int
}

// boundDevice reads the answer to a request for a code that is typed at another device (RFC 8628).
func boundDevice(_ *http.Request, response *http.Response, err error) (*http.Response, error) {
	const longestLife = 30 * 60
	return bounded(response, err, bounds{"interval", 1, 60, 5}, bounds{"expires_in", 1, longestLife, longestLife})
}

// boundToken reads an answer with a token. A life of more than a year is no number of seconds.
func boundToken(_ *http.Request, response *http.Response, err error) (*http.Response, error) {
	return bounded(response, err, bounds{"expires_in", 0, 365 * 24 * 60 * 60, 0})
}

// bounded is an answer whose fields are in their bounds, if it is a good one.
func bounded(response *http.Response, err error, fields ...bounds) (*http.Response, error) {
	if err != nil || response.StatusCode/100 != 2 {
		return response, err
	}
	body, err := io.ReadAll(response.Body) // which is in memory
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(withBounds(body, fields...)))
	return response, nil
}

// withBounds returns a JSON object whose fields are in their bounds; another text as it is.
func withBounds(body []byte, fields ...bounds) []byte {
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) != nil || object == nil {
		return body
	}
	for _, f := range fields {
		n, ok := seconds(object[f.field])
		if !ok {
			n = float64(f.usual)
		}
		if within := int(min(max(n, float64(f.least)), float64(f.most))); within > 0 {
			object[f.field] = json.RawMessage(strconv.Itoa(within))
		} else {
			delete(object, f.field)
		}
	}
	changed, err := json.Marshal(object)
	if err != nil {
		return body
	}
	return changed
}

// seconds is a number that is written as one, or as text; one that is beyond all bounds is infinite.
func seconds(raw json.RawMessage) (n float64, ok bool) {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, (err == nil || errors.Is(err, strconv.ErrRange)) && !math.IsNaN(n)
}
