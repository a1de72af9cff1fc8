package openai

import (
	"bytes"
	"encoding/json"

	"pi/agent/provider"
)

// details joins the pieces of a reasoning_details list. What it gives back is
// what the server would have sent in one piece, in the same order: consecutive
// pieces of a type and index are one item.
type details struct{ items []detail }

// detail is one item; fields that are not known here are kept.
type detail map[string]json.RawMessage

// add takes the pieces of one chunk and returns the thinking text in them.
func (d *details) add(pieces []json.RawMessage) string {
	said := ""
	for _, raw := range pieces {
		var p detail
		if json.Unmarshal(raw, &p) != nil || p == nil {
			continue
		}
		said += p.text("text") + p.text("summary")
		if n := len(d.items); n > 0 && d.items[n-1].continues(p) {
			d.items[n-1].join(p)
		} else {
			d.items = append(d.items, p)
		}
	}
	return said
}

func (d detail) text(field string) string {
	var s string
	if json.Unmarshal(d[field], &s) != nil {
		return ""
	}
	return s
}

func (d detail) continues(p detail) bool {
	return bytes.Equal(d["type"], p["type"]) && bytes.Equal(d["index"], p["index"]) &&
		d.text("data") == "" && p.text("data") == "" &&
		(d.text("id") == "" || p.text("id") == "" || d.text("id") == p.text("id"))
}

// join appends the texts of p and takes over what d lacks.
func (d detail) join(p detail) {
	for name, value := range p {
		switch {
		case name == "text" || name == "summary":
			if joined, err := provider.Encode(d.text(name) + p.text(name)); err == nil {
				d[name] = joined
			}
		case present(value):
			d[name] = value
		case d[name] == nil:
			d[name] = value
		}
	}
}

// opaque reports whether an item holds what only the server can read.
func (d *details) opaque() bool {
	for _, item := range d.items {
		if item.text("signature") != "" || item.text("data") != "" {
			return true
		}
	}
	return false
}

// String is the list as JSON, or "" for an empty one.
func (d *details) String() string {
	if len(d.items) == 0 {
		return ""
	}
	b, err := provider.Encode(d.items)
	if err != nil {
		return ""
	}
	return string(b)
}
