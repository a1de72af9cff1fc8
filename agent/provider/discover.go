package provider

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"pi/agent/llm"
	"pi/internal/printable"
)

// Server is a server that [Discover] asks for its models.
type Server struct {
	Provider string  // its name in the settings
	Listing  Listing // what holds for the wire API that it speaks
	BaseURL  string
	Key      string // "" if it needs none
	Auth     string // how the key is sent, see [SetKey]; "": as the API has it
	Headers  map[string]string
}

// Listing is how the servers of a wire API are asked for their models. The zero value is the
// way of OpenAI.
type Listing struct {
	Header  http.Header              // what a request has beside its key
	Scheme  func(key string) string  // how a key is sent, see [SetKey]; nil: as a bearer
	Address func(base string) string // of the list; nil: /models behind the base URL
	Older   string                   // where the list of older servers is, beside the API; "": nowhere
}

const (
	listTime = 5 * time.Second // for all requests to one server together
	listSize = 64 << 20        // 300,000 models of a few words each have half of it
	showSize = 4 << 20         // of what is told of one model; its license is the most of it
	shown    = 8               // models that a server is asked of at the same time
)

// Discover asks a server which models it has: those that can hold a
// conversation, in its order. It takes five seconds at most. An error is an
// [llm.ProviderError] that says what to do, or that of ctx; or an [llm.LongList], with the
// models that were read.
//
// Servers tell more or less of their models. For those that people run
// themselves, how long a context may be is a matter of how they were started, so
// Ollama, llama.cpp and LM Studio are asked that apart, as far as they know it
// before a model is loaded. Ollama is also asked what each of its models can do.
func Discover(ctx context.Context, client *http.Client, s Server) ([]Found, error) {
	late := fmt.Errorf("no list of models within %s", listTime)
	timed, cancel := context.WithTimeoutCause(ctx, listTime, late)
	defer cancel()
	d := newDiscovery(client, s)
	found, err := d.list(timed)
	switch {
	case err == nil || found != nil || ctx.Err() != nil:
		return found, err
	case timed.Err() != nil:
		return nil, &llm.ProviderError{Provider: s.Provider, Message: late.Error(), Err: late,
			NextStep: d.faults.setting("base_url") + " (" + d.faults.secrets.hide(printable.URL(s.BaseURL)) + ") and " + d.faults.network()}
	}
	return nil, err
}

// discovery is the conversation with one server about its models.
type discovery struct {
	client *http.Client
	server Server
	header http.Header
	faults *faults
}

// newDiscovery prepares the requests to a server: headers and key as its API wants
// them, and the secrets that no error may show.
func newDiscovery(client *http.Client, s Server) *discovery {
	d := &discovery{client: client, server: s, header: http.Header{}}
	d.header.Set("Accept", "application/json")
	d.header.Set("User-Agent", "pi")
	maps.Copy(d.header, s.Listing.Header)
	scheme := cmp.Or(s.Auth, "bearer")
	if s.Auth == "" && s.Listing.Scheme != nil {
		scheme = s.Listing.Scheme(s.Key)
	}
	SetKey(d.header, scheme, s.Key)
	for name, value := range s.Headers {
		d.header.Set(name, value)
	}
	d.faults = &faults{model: &llm.Model{Provider: s.Provider, BaseURL: s.BaseURL}, secrets: collectSecrets(s.Key, d.header), hint: d.hint}
	d.faults.keyless = !d.faults.secrets.sent
	if u, err := url.Parse(s.BaseURL); err == nil {
		d.faults.secrets.addURL(u)
		d.faults.proxy = proxyOf(client, u)
	}
	return d
}

// hint returns what to do about a request for models that failed, where that differs
// from the hint for a call; else "".
func (d *discovery) hint(status int, _ string) string {
	switch status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return fmt.Sprintf("it does not list its models; %s (%s), or name its models there",
			d.faults.setting("base_url"), d.faults.secrets.hide(printable.URL(d.server.BaseURL)))
	case http.StatusForbidden:
		return "the key may not list models; " + d.faults.keyHint()
	}
	return ""
}

// address is the address of the list of models.
func (d *discovery) address() string {
	if of := d.server.Listing.Address; of != nil {
		return of(d.server.BaseURL)
	}
	return Join(d.server.BaseURL, "/models")
}

// sibling is the address of a path beside that of the API, on the same server.
func (d *discovery) sibling(path string) string {
	base, query, found := strings.Cut(d.server.BaseURL, "?")
	base = strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1") + path
	if found {
		base += "?" + query
	}
	return base
}

// list gets the list of models and, where the server tells more in other places,
// completes them from there.
func (d *discovery) list(ctx context.Context) ([]Found, error) {
	body, err := d.get(ctx, d.address())
	var refusal *llm.ProviderError
	missing := errors.As(err, &refusal) && (refusal.Status == http.StatusNotFound || refusal.Status == http.StatusMethodNotAllowed)
	if missing && d.server.Listing.Older != "" {
		if older, e := d.get(ctx, d.sibling(d.server.Listing.Older)); e == nil {
			body, err = older, nil
		}
	}
	if err != nil {
		return nil, err
	}
	offers, all, err := parseOffers(body)
	if err != nil {
		return nil, d.unreadable(body, err)
	}
	found := d.complete(ctx, offers, readOffers(offers))
	if all > len(offers) {
		return found, &llm.LongList{Provider: d.server.Provider, Read: len(offers), All: all}
	}
	return found, nil
}

// get requests an address and returns the body of the answer, if its status is 200 and
// it is not too long.
func (d *discovery) get(ctx context.Context, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, d.faults.unreadableAddress()
	}
	req.Header = d.header.Clone()
	return d.send(ctx, req, listSize)
}

// send sends a request for at most so many bytes, and returns the body of the answer, if
// its status is 200.
func (d *discovery) send(ctx context.Context, req *http.Request, most int64) ([]byte, error) {
	resp, err := d.client.Do(req)
	if err != nil {
		return nil, d.faults.connection(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, d.faults.answer(resp.StatusCode, resp.Header, errorText(resp.Body))
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err != nil {
		return nil, d.faults.connection(ctx, err)
	}
	if int64(len(body)) > most {
		return nil, d.noList(fmt.Sprintf("the list of models is longer than %d MiB", most>>20))
	}
	return body, nil
}

// unreadable is the error for an answer that is no list of models: the error that it
// describes, or else that it is a web page or cannot be read.
func (d *discovery) unreadable(body []byte, cause error) error {
	if said, ok := parseErrorBody(body); ok && !said.HTML {
		return d.faults.answer(0, nil, body)
	} else if said.HTML {
		return d.noList("answered with a web page instead of a list of models: " + said.Message)
	}
	e := d.noList("the list of models cannot be read: " + cause.Error())
	e.Err = d.faults.clean(cause)
	return e
}

// noList is the error for an answer that is something else than a list of models.
func (d *discovery) noList(message string) *llm.ProviderError {
	return &llm.ProviderError{Provider: d.server.Provider, Status: http.StatusOK, Message: d.faults.secrets.shown(message),
		NextStep: d.faults.setting("base_url") + " (" + d.faults.secrets.hide(printable.URL(d.server.BaseURL)) + "): another service may be answering there"}
}

// complete asks the servers that people run themselves for what their list does not have,
// as the windows. They are recognised by the owner of their models. A request that fails
// is ignored: the list is good without it.
func (d *discovery) complete(ctx context.Context, offers []offer, found []Found) []Found {
	owned := func(owner string) bool {
		return slices.ContainsFunc(offers, func(o offer) bool { return o.text("owned_by") == owner })
	}
	switch {
	case owned("library"):
		loaded := d.more(ctx, "/api/ps") // first: what follows may take all the time there is
		found = d.showEach(ctx, found)
		for _, o := range loaded {
			setWindow(found, o.id(), o.count("context_length"))
		}
	case owned("organization_owner"):
		for _, o := range d.more(ctx, "/api/v0/models") {
			if o.isForTalk() {
				setWindow(found, o.id(), o.count("loaded_context_length"))
				continue
			}
			found = slices.DeleteFunc(found, func(f Found) bool { return f.ID == o.id() })
		}
	case owned("llamacpp") && len(found) == 1:
		if body, err := d.get(ctx, d.sibling("/props")); err == nil {
			var props offer
			_ = json.Unmarshal(body, &props) // of something else nothing is read
			setWindow(found, found[0].ID, props.child("default_generation_settings").count("n_ctx"))
		}
	}
	return found
}

// showEach asks an Ollama about each of its models, several at a time, and returns those
// that can talk. A model of which nothing is heard in time stays as it is.
func (d *discovery) showEach(ctx context.Context, found []Found) []Found {
	mute := make([]bool, len(found))
	slots := make(chan struct{}, shown)
	var asked sync.WaitGroup
	for i := range found {
		asked.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if o := d.show(ctx, found[i].ID); o != nil {
				mute[i] = !found[i].complete(o)
			}
		})
	}
	asked.Wait()
	talking := found[:0]
	for i := range found {
		if !mute[i] {
			talking = append(talking, found[i])
		}
	}
	return talking
}

// show asks an Ollama about one model; nil on any error.
func (d *discovery) show(ctx context.Context, id string) offer {
	body, err := json.Marshal(map[string]string{"model": id})
	if err != nil {
		return nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.sibling("/api/show"), bytes.NewReader(body))
	if err != nil {
		return nil
	}
	req.Header = d.header.Clone()
	req.Header.Set("Content-Type", "application/json")
	said, err := d.send(ctx, req, showSize)
	if err != nil {
		return nil
	}
	var o offer
	_ = json.Unmarshal(said, &o) // of something else nothing is read
	return o
}

// more gets another list of the server; nil if there is none, or on any error.
func (d *discovery) more(ctx context.Context, path string) []offer {
	body, err := d.get(ctx, d.sibling(path))
	if err != nil {
		return nil
	}
	offers, _, err := parseOffers(body)
	if err != nil {
		return nil
	}
	return offers
}

// setWindow sets the context window of the model with that id, unless the window is 0,
// not known.
func setWindow(found []Found, id string, window int) {
	for i := range found {
		if found[i].ID == id && window > 0 {
			found[i].ContextWindow = window
		}
	}
}
