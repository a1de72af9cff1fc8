package provider

import (
	"fmt"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/session/message"
)

// texts is a draft of plain texts.
type texts struct{ list []string }

func (d *texts) Fits(*llm.Request) bool { return true }
func (d *texts) Add(m *message.Message) { d.list = append(d.list, m.Text()) }
func (d *texts) Fork() *texts           { return &texts{d.list} }
func (d *texts) TakeFinal() []string {
	final := d.list
	d.list = nil
	return final
}

// encodeTexts encodes a request, and returns how many conversations were begun for it.
func encodeTexts(t *testing.T, k *Drafts[*texts, string], r *llm.Request) (begun int) {
	t.Helper()
	_, err := k.Encode(r, func() *texts { begun++; return new(texts) }, func(elements [][]byte, rest *texts) ([]byte, error) {
		return JoinList(nil, elements, nil), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return begun
}

func conversationOf(session string, bytes int) *llm.Request {
	return &llm.Request{Model: &llm.Model{ID: "m"}, SessionID: session, Messages: []*message.Message{
		{Role: message.RoleAssistant, Content: []message.Block{message.TextBlock(strings.Repeat("x", bytes))}}, {Role: message.RoleUser}}}
}

func TestAClientKeepsOnlySoMuch(t *testing.T) {
	k := new(Drafts[*texts, string])
	const large = mostKept / 4
	var all []*llm.Request
	for i := range 5 {
		all = append(all, conversationOf(fmt.Sprint("large", i), large))
		encodeTexts(t, k, all[i])
	}
	if encodeTexts(t, k, all[4]) != 0 || encodeTexts(t, k, all[1]) != 0 {
		t.Error("what there is room for is not kept")
	}
	if encodeTexts(t, k, all[0]) != 1 {
		t.Error("what was used longest ago is kept as well")
	}
	tooLarge := conversationOf("too large", mostKept+1)
	if encodeTexts(t, k, tooLarge); encodeTexts(t, k, tooLarge) != 1 || encodeTexts(t, k, all[0]) != 0 {
		t.Error("one that is too large is kept, or drives out others")
	}
	for i := range 3 * mostKeeps {
		encodeTexts(t, k, conversationOf(fmt.Sprint("small", i), 1))
	}
	if n := len(k.kept); n > mostKeeps {
		t.Errorf("%d conversations are kept", n)
	}
}

func TestWhatHasNothingToGoOnFromIsNotKept(t *testing.T) {
	k := new(Drafts[*texts, string])
	outside, first := conversationOf("", 10), conversationOf("s", 10)
	first.Messages = first.Messages[1:]
	for _, r := range []*llm.Request{outside, first} {
		if encodeTexts(t, k, r); len(k.kept) > 0 {
			t.Errorf("%q is kept", r.SessionID)
		}
	}
}

func TestWhatIsMadeOfModelsIsBounded(t *testing.T) {
	var k ByModel[int]
	made := 0
	build := func(*llm.Model) (int, error) { made++; return made, nil }
	m := &llm.Model{}
	for range 2 {
		if n, err := k.Of(m, build); n != 1 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	for range 3 * mostKeeps {
		if _, err := k.Of(&llm.Model{}, build); err != nil || len(k.kept) > mostKeeps {
			t.Fatalf("%d are kept: %v", len(k.kept), err)
		}
	}
}
