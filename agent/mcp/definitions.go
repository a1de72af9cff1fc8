package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pi/agent"
	"pi/internal/printable"
)

// What a server has is foreign text: bounded, cleaned, and remembered with a hash, so that it
// is seen when it changes. A list ends where it becomes absurd.
const (
	maxPages       = 200
	maxListed      = 10_000  // tools, and as many resources and prompts
	maxDefinitions = 4 << 20 // bytes of all of them
	maxDescription = 16 << 10
	maxSchema      = 256 << 10
	maxSchemaDepth = 64
	maxToolName    = 256
)

// definitions are what a server has, as it said last. They are not changed once made.
type definitions struct {
	Protocol     string
	Instructions string // the first lines
	Tools        []Tool
	Resources    []Resource
	Prompts      []Prompt
	LeftOut      []string // what of it is not here, and why

	// First are the hashes under which tools were listed first, or accepted since, by name.
	// One with another hash has changed.
	First map[string]string
}

// tool returns the tool of a name, or nil.
func (d *definitions) tool(name string) *Tool {
	if d == nil {
		return nil
	}
	for i := range d.Tools {
		if d.Tools[i].Tool == name {
			return &d.Tools[i]
		}
	}
	return nil
}

// hasChanged reports whether a tool is another than it was listed first.
func (d *definitions) hasChanged(t *Tool) bool {
	first := d.First[t.Tool]
	return first != "" && first != t.Hash
}

// description is what the server says of itself, in a row. Many begin with a heading of Markdown.
func (d *definitions) description() string {
	return printable.FirstLine(strings.TrimLeft(d.Instructions, "# \t\n"), 200)
}

// list asks a server for all that it has.
func (c *connection) list(ctx context.Context, e *Entry) (*definitions, error) {
	said := c.session.InitializeResult()
	d := &definitions{Protocol: said.ProtocolVersion, Instructions: cleanText(said.Instructions, maxDescription)}
	has := said.Capabilities
	if has == nil {
		has = &sdk.ServerCapabilities{}
	}
	l := &lister{d: d, left: maxDefinitions}
	if has.Tools != nil {
		if err := l.tools(ctx, c.session, e); err != nil {
			return nil, fmt.Errorf("list its tools: %w", err)
		}
	}
	// Who says that there are resources or prompts and does not know the word for the list has
	// none.
	if has.Resources != nil {
		if err := l.resources(ctx, c.session, e.Name); err != nil && !isUnknownMethod(err) {
			return nil, fmt.Errorf("list its resources: %w", err)
		}
	}
	if has.Prompts != nil {
		if err := l.prompts(ctx, c.session, e.Name); err != nil && !isUnknownMethod(err) {
			return nil, fmt.Errorf("list its prompts: %w", err)
		}
	}
	return d, nil
}

func isUnknownMethod(err error) bool {
	var wire *jsonrpc.Error
	return errors.As(err, &wire) && wire.Code == jsonrpc.CodeMethodNotFound
}

// lister makes definitions of the lists of a server.
type lister struct {
	d    *definitions
	left int // bytes
}

// pages gets one page after the other, until a page is the last, or take wants no more.
func (l *lister) pages(what string, get func(cursor string) (next string, more bool, err error)) error {
	seen, cursor := map[string]bool{}, ""
	for range maxPages {
		next, more, err := get(cursor)
		switch {
		case err != nil:
			return err
		case !more || next == "":
			return nil
		case seen[next]:
			l.leaveOut("the list of %s: its pages go in a circle", what)
			return nil
		}
		seen[next], cursor = true, next
	}
	l.leaveOut("what follows on %d pages of %s", maxPages, what)
	return nil
}

func (l *lister) leaveOut(format string, args ...any) {
	const most = 20
	if len(l.d.LeftOut) < most {
		l.d.LeftOut = append(l.d.LeftOut, fmt.Sprintf(format, args...))
	}
}

// hasRoom reports whether one more of a kind, of so many bytes, is kept.
func (l *lister) hasRoom(what string, have, size int) bool {
	if l.left -= size; have >= maxListed || l.left < 0 {
		l.leaveOut("what follows on %s", printable.Count(have, what))
		return false
	}
	return true
}

func (l *lister) tools(ctx context.Context, session *sdk.ClientSession, e *Entry) error {
	known := map[string]bool{}
	return l.pages("tools", func(cursor string) (string, bool, error) {
		page, err := session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return "", false, err
		}
		for _, listed := range page.Tools {
			t, err := newTool(e, listed)
			switch {
			case err != nil:
				l.leaveOut("the tool %q: %v", printable.Short(listed.Name), err)
				continue
			case known[t.Name]: // of it, or of another that is called the same here
				l.leaveOut("the second tool %q", printable.Short(listed.Name))
				continue
			}
			if !l.hasRoom("tool", len(l.d.Tools), len(t.Tool)+len(t.Description)+len(t.Schema)+200) {
				return "", false, nil
			}
			known[t.Name] = true
			l.d.Tools = append(l.d.Tools, *t)
		}
		return page.NextCursor, true, nil
	})
}

// newTool makes a tool of what a server listed.
func newTool(e *Entry, listed *sdk.Tool) (*Tool, error) {
	if listed.Name == "" || len(listed.Name) > maxToolName {
		return nil, fmt.Errorf("its name has %d characters, at most %d", len(listed.Name), maxToolName)
	}
	if !isPlain(listed.Name) {
		return nil, errors.New("its name has characters that nobody sees")
	}
	if depth(listed.InputSchema, 0) > maxSchemaDepth {
		return nil, fmt.Errorf("its schema is more than %d deep", maxSchemaDepth)
	}
	raw, err := encode(listed.InputSchema)
	if err != nil {
		return nil, err
	}
	if len(raw) > maxSchema {
		return nil, fmt.Errorf("its schema has more than %s", printable.Bytes(maxSchema))
	}
	t := &Tool{Server: e.Name, Tool: listed.Name, Name: Name(e.Name, listed.Name), Title: cleanText(listed.Title, 200)}
	t.Description, t.Hidden = clean(listed.Description, maxDescription)
	t.Claims = claims(listed.Annotations)
	all, err := encode([]any{listed.Name, listed.Title, listed.Description, listed.InputSchema, listed.Annotations})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(all)
	t.Hash = hex.EncodeToString(sum[:])
	if t.Schema, err = encode(cleanSchema(listed.InputSchema, &t.Hidden)); err != nil {
		return nil, err
	}
	t.Schema = escapeHidden(t.Schema)
	return t, nil
}

// isPlain reports whether a name can be shown as it is, and hides nothing.
func isPlain(name string) bool {
	return cleanText(name, len(name)) == name && printable.Line(name) == name
}

// escapeHidden writes the characters of JSON that nobody sees with escapes: its names and values
// have to stay what they are.
func escapeHidden(text []byte) []byte {
	if !bytes.ContainsFunc(text, printable.Hidden) {
		return text
	}
	var b []byte
	for _, r := range string(text) {
		if printable.Hidden(r) {
			for _, unit := range utf16.AppendRune(nil, r) {
				b = fmt.Appendf(b, `\u%04x`, unit)
			}
			continue
		}
		b = utf8.AppendRune(b, r)
	}
	return b
}

// encode writes JSON without the escapes that are for pages.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	w := json.NewEncoder(&b)
	w.SetEscapeHTML(false)
	err := w.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// claims are the annotations of a server as they are here: what it does not say is the worst.
func claims(a *sdk.ToolAnnotations) agent.Annotations {
	if a == nil {
		a = &sdk.ToolAnnotations{}
	}
	is := agent.Annotations{ReadOnly: a.ReadOnlyHint, Claimed: true}
	is.Destructive = !a.ReadOnlyHint && (a.DestructiveHint == nil || *a.DestructiveHint)
	is.OpenWorld = a.OpenWorldHint == nil || *a.OpenWorldHint
	return is
}

// depth is how deep a value lies in itself, as far as that matters.
func depth(v any, above int) (deepest int) {
	if above > maxSchemaDepth {
		return above
	}
	deepest = above
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			deepest = max(deepest, depth(e, above+1))
		}
	case []any:
		for _, e := range v {
			deepest = max(deepest, depth(e, above+1))
		}
	}
	return deepest
}

// cleanSchema is a schema whose texts for readers are cleaned. Values and names stay as they
// are, for the server knows them so.
func cleanSchema(v any, hidden *int) any {
	switch v := v.(type) {
	case map[string]any:
		cleaned := make(map[string]any, len(v))
		for key, e := range v {
			if text, ok := e.(string); ok && (key == "description" || key == "title" || key == "$comment") {
				text, n := clean(text, maxDescription)
				*hidden += n
				cleaned[key] = text
				continue
			}
			cleaned[key] = cleanSchema(e, hidden)
		}
		return cleaned
	case []any:
		cleaned := make([]any, len(v))
		for i, e := range v {
			cleaned[i] = cleanSchema(e, hidden)
		}
		return cleaned
	}
	return v
}

func (l *lister) resources(ctx context.Context, session *sdk.ClientSession, server string) error {
	add := func(r Resource) bool {
		size := len(r.URI) + len(r.Name) + len(r.Title) + len(r.Description) + 100
		if !l.hasRoom("resource", len(l.d.Resources), size) {
			return false
		}
		r.Server, r.Name, r.Title = server, cleanText(r.Name, 200), cleanText(r.Title, 200)
		r.Description, r.MIMEType = cleanText(r.Description, maxDescription), cleanText(r.MIMEType, 100)
		l.d.Resources = append(l.d.Resources, r)
		return true
	}
	err := l.pages("resources", func(cursor string) (string, bool, error) {
		page, err := session.ListResources(ctx, &sdk.ListResourcesParams{Cursor: cursor})
		if err != nil {
			return "", false, err
		}
		for _, r := range page.Resources {
			if r != nil && !add(Resource{URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIMEType}) {
				return "", false, nil
			}
		}
		return page.NextCursor, true, nil
	})
	if err != nil {
		return err
	}
	err = l.pages("templates of resources", func(cursor string) (string, bool, error) {
		page, err := session.ListResourceTemplates(ctx, &sdk.ListResourceTemplatesParams{Cursor: cursor})
		if err != nil {
			return "", false, err
		}
		for _, r := range page.ResourceTemplates {
			if r != nil && !add(Resource{URI: r.URITemplate, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIMEType, Template: true}) {
				return "", false, nil
			}
		}
		return page.NextCursor, true, nil
	})
	if isUnknownMethod(err) { // many have none
		return nil
	}
	return err
}

func (l *lister) prompts(ctx context.Context, session *sdk.ClientSession, server string) error {
	return l.pages("prompts", func(cursor string) (string, bool, error) {
		page, err := session.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: cursor})
		if err != nil {
			return "", false, err
		}
		for _, p := range page.Prompts {
			if p == nil || p.Name == "" || len(p.Name) > maxToolName || strings.ContainsAny(p.Name, "\n\r") {
				continue
			}
			is := Prompt{Server: server, Name: p.Name, Title: cleanText(p.Title, 200), Description: cleanText(p.Description, maxDescription)}
			for _, a := range p.Arguments[:min(len(p.Arguments), maxFields)] {
				if a != nil {
					is.Arguments = append(is.Arguments, PromptArgument{Name: cleanText(a.Name, 100), Description: cleanText(a.Description, 1000), Required: a.Required})
				}
			}
			if !l.hasRoom("prompt", len(l.d.Prompts), len(is.Name)+len(is.Title)+len(is.Description)+100*len(is.Arguments)+100) {
				return "", false, nil
			}
			l.d.Prompts = append(l.d.Prompts, is)
		}
		return page.NextCursor, true, nil
	})
}

// unknownHash stands in the place of the hash of a tool of which it is lost how it was listed first:
// whoever wants to be asked about tools that changed is asked about it.
const unknownHash = "unknown"

// forgetFirst says that it is lost how the tools were listed first.
func (d *definitions) forgetFirst() {
	for name := range d.First {
		d.First[name] = unknownHash
	}
}

// compare returns what became of the tools since before, and notes in d under which hashes
// they were first listed. What is new or gone is no change of a definition.
func (d *definitions) compare(before *definitions) (changes []Change) {
	d.First = map[string]string{}
	was := map[string]*Tool{}
	if before != nil {
		for i := range before.Tools {
			was[before.Tools[i].Tool] = &before.Tools[i]
		}
		for name, hash := range before.First { // of those that are gone too: one may come back as another
			d.First[name] = hash
		}
	}
	for i := range d.Tools {
		t := &d.Tools[i]
		if d.First[t.Tool] == "" {
			d.First[t.Tool] = t.Hash
		}
		if old := was[t.Tool]; old != nil && old.Hash != t.Hash {
			changes = append(changes, Change{Server: t.Server, Tool: t.Tool, Before: old, After: t})
		}
	}
	return changes
}
