package provider

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"pi/agent/llm"
	"pi/internal/printable"
	"pi/session/rawjson"
)

// Found is a model as its server tells of it; what it does not tell is empty.
type Found struct {
	ID            string
	Name          string // for people; the id if there is no other
	ContextWindow int
	MaxTokens     int
	Reasoning     bool
	NoReasoning   bool // the server says so
	NoTools       bool // likewise
	Input         []string
	Cost          *llm.Price
}

// Fill sets in a model what the server told of it; the rest stays.
func (f *Found) Fill(m *llm.Model) {
	m.ID, m.Name = f.ID, f.Name
	if f.ContextWindow > 0 {
		m.ContextWindow = f.ContextWindow
	}
	if f.MaxTokens > 0 {
		m.MaxTokens = f.MaxTokens
	}
	m.Reasoning = (m.Reasoning || f.Reasoning) && !f.NoReasoning
	m.MayThink = m.MayThink && !m.Reasoning && !f.NoReasoning
	if _, set := m.Compat["tools"]; f.NoTools && !set {
		compat := map[string]any{"tools": false}
		maps.Copy(compat, m.Compat)
		m.Compat = compat
	}
	if f.Input != nil {
		m.Input = slices.Clone(f.Input)
	}
	if f.Cost != nil {
		cost := *f.Cost
		m.Cost = &cost
	}
}

// offer is one element of a list of models. Each service has its own idea of
// what is in it; of a field that is not what it is expected to be, nothing
// is read.
type offer map[string]any

// errNoList is the error of an answer without a list of models.
var errNoList = errors.New("there is no list in it")

// mostOffers is how much of a list is read. The longest there is has a tenth of it.
const mostOffers = 5000

// parseOffers finds the list in an answer: it is the answer itself, or under data, or
// under models. Elements that are no objects are skipped, and those behind the first
// mostOffers only counted: all is how many there are.
func parseOffers(body []byte) (offers []offer, all int, err error) {
	var whole json.RawMessage
	if err := json.Unmarshal(body, &whole); err != nil {
		return nil, 0, err
	}
	list, ok := whole, whole[0] == '['
	if !ok {
		list, ok = listUnder(whole, "data", "models")
	}
	if !ok {
		return nil, 0, errNoList
	}
	for element := range rawjson.Elements(list) {
		if element[0] != '{' {
			continue
		}
		if all++; all > mostOffers {
			continue
		}
		var o offer
		if err := json.Unmarshal(element, &o); err != nil {
			return nil, 0, err
		}
		offers = append(offers, o)
	}
	return offers, all, nil
}

// listUnder is the first list of those names. A server that has no models may
// say null.
func listUnder(object []byte, names ...string) (list []byte, ok bool) {
	for _, name := range names {
		value := rawjson.Field(object, name)
		if len(value) > 0 && value[0] == '[' {
			return value, true
		}
		ok = ok || string(value) == "null"
	}
	return nil, ok
}

// readOffers describes the models that are made for conversations, each id once.
func readOffers(offers []offer) []Found {
	found := make([]Found, 0, len(offers))
	seen := map[string]bool{}
	for _, o := range offers {
		id := o.id()
		if id == "" || seen[id] || !o.isForTalk() {
			continue
		}
		seen[id] = true
		found = append(found, o.read(id))
	}
	return found
}

// read describes the model: each fact is in one of several fields, as servers name them
// differently.
func (o offer) read(id string) Found {
	can := o.child("capabilities")
	reasons := o.has("supported_parameters", "reasoning") || o.has("tags", "reasoning") || o["thinking"] == true ||
		can["reasoning"] == true || can.child("thinking")["supported"] == true
	f := Found{ID: id, Name: o.title(), Reasoning: reasons, Input: o.input(), Cost: o.price(id)}
	if f.Name == "" {
		f.Name = id
	}
	f.ContextWindow = o.count("loaded_context_length", "max_model_len", "context_length", "context_window", "max_context_length", "max_input_tokens", "inputTokenLimit")
	f.MaxTokens = o.count("max_completion_tokens", "max_output_tokens", "outputTokenLimit", "max_tokens")
	if f.MaxTokens == 0 {
		f.MaxTokens = o.child("top_provider").count("max_completion_tokens")
	}
	return f
}

// complete sets what an Ollama tells of one model, and reports whether the model can talk.
// Its window is what the model was made with for this server, or else what it could have;
// how much of that it gets is a matter of how the server was started.
func (f *Found) complete(o offer) bool {
	info := o.child("model_info")
	if window := info.count(info.text("general.architecture") + ".context_length"); window > 0 {
		f.ContextWindow = window
	}
	for line := range strings.Lines(o.text("parameters")) {
		if words := strings.Fields(line); len(words) == 2 && words[0] == "num_ctx" {
			window, _ := strconv.ParseFloat(words[1], 64)
			f.ContextWindow = cmp.Or(offer{"num_ctx": window}.count("num_ctx"), f.ContextWindow)
		}
	}
	if _, told := o["capabilities"].([]any); !told { // an older one
		return true
	}
	f.Reasoning = o.has("capabilities", "thinking")
	f.NoReasoning, f.NoTools = !f.Reasoning, !o.has("capabilities", "tools")
	f.Input = []string{"text"}
	if o.has("capabilities", "vision") {
		f.Input = append(f.Input, "image")
	}
	return o.has("capabilities", "completion")
}

// id is what a request names the model by; "" if there is none, or if it has characters
// that cannot be shown.
func (o offer) id() string {
	const longest = 300
	id := strings.TrimPrefix(o.text("id", "model", "name"), "models/")
	odd := func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) || printable.Hidden(r) }
	if len(id) > longest || !utf8.ValidString(id) || strings.ContainsFunc(id, odd) {
		return ""
	}
	return id
}

// title is the name for people, of characters that can be shown; "" if there is none.
func (o offer) title() string {
	const longest = 100
	title := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || printable.Hidden(r) {
			return -1
		}
		return r
	}, CleanText(o.text("display_name", "displayName", "name")))
	if strings.HasPrefix(title, "models/") {
		return ""
	}
	if runes := []rune(title); len(runes) > longest {
		title = string(runes[:longest])
	}
	return strings.TrimSpace(title)
}

// isForTalk reports whether a model can hold a conversation: it can unless its list
// says that it is for something else.
func (o offer) isForTalk() bool {
	for _, denied := range []any{o["active"], o["supports_chat"], o.child("capabilities")["completion_chat"]} {
		if denied == false {
			return false
		}
	}
	if _, told := o["supportedGenerationMethods"].([]any); told && !o.has("supportedGenerationMethods", "generateContent") {
		return false
	}
	shape := o.child("architecture")
	if _, told := shape["output_modalities"].([]any); told && !shape.has("output_modalities", "text") {
		return false
	}
	others := []string{"embedding", "embeddings", "rerank", "reranker", "image", "video", "audio", "speech", "tts", "transcribe", "moderation"}
	return !slices.Contains(others, o.text("type"))
}

// input is the kinds of content that a model takes, text and perhaps image; nil if the
// server does not tell.
func (o offer) input() []string {
	can, shape := o.child("capabilities"), o.child("architecture")
	_, listed := shape["input_modalities"].([]any)
	told := listed || o["tags"] != nil || o["supports_image_input"] != nil || can["vision"] != nil || can["image_input"] != nil
	switch {
	case shape.has("input_modalities", "image") || o.has("tags", "vision") || o["supports_image_input"] == true ||
		can["vision"] == true || can.child("image_input")["supported"] == true:
		return []string{"text", "image"}
	case told:
		return []string{"text"}
	}
	return nil
}

// price reads the prices per million tokens, -1 for one that is not known; nil if there
// are none. An input price of 0 is believed only if the id says that the model is free.
func (o offer) price(id string) *llm.Price {
	p := o.child("pricing")
	cost := &llm.Price{
		Input: p.amount("prompt", "input"), Output: p.amount("completion", "output"),
		CacheRead: p.amount("input_cache_read", "cached_input"), CacheWrite: p.amount("input_cache_write"),
	}
	free := strings.HasSuffix(id, ":free") || strings.HasSuffix(id, "-free")
	switch {
	case cost.Input < 0 || cost.Output < 0:
		return nil
	case cost.Input == 0 && cost.Output == 0 && free:
		return &llm.Price{}
	case cost.Input == 0:
		return nil
	}
	for _, cached := range []*float64{&cost.CacheRead, &cost.CacheWrite} {
		if *cached == 0 {
			*cached = -1
		}
	}
	return cost
}

// amount is the first price of those names, -1 if there is none. As a string it
// is for one token, as a number for a million of them.
func (o offer) amount(names ...string) float64 {
	const most = 1e5
	for _, name := range names {
		v := -1.0
		switch value := o[name].(type) {
		case float64:
			v = value
		case string:
			if one, err := strconv.ParseFloat(value, 64); err == nil {
				v, _ = strconv.ParseFloat(strconv.FormatFloat(one*1e6, 'g', 9, 64), 64)
			}
		}
		if v >= 0 && v < most {
			return v
		}
	}
	return -1
}

// text is the first field of those names that is a text; "" if there is none.
func (o offer) text(names ...string) string {
	for _, name := range names {
		if s, ok := o[name].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// count is the first number of tokens of those names; 0 if there is none.
func (o offer) count(names ...string) int {
	const most = 1e9
	for _, name := range names {
		if v, ok := o[name].(float64); ok && v >= 1 && v <= most {
			return int(v)
		}
	}
	return 0
}

func (o offer) child(name string) offer {
	c, _ := o[name].(map[string]any)
	return c
}

func (o offer) has(name, word string) bool {
	list, _ := o[name].([]any)
	return slices.Contains(list, any(word))
}
