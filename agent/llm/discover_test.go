package llm

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestDiscoveredModelsAreListedAndFound(t *testing.T) {
	m := newShelf("cloud key big\n off server-of-nobody")
	asked := make(chan string, 4)
	discover := func(name string, found []*Model, err error) func(context.Context) ([]*Model, error) {
		return func(context.Context) ([]*Model, error) { asked <- name; return found, err }
	}
	local := ProviderSpec{Name: "local", Models: Listed(&Model{Provider: "local", ID: "known", ContextWindow: 5}),
		Open:     func(id string) *Model { return &Model{Provider: "local", ID: id, Name: "opened"} },
		Discover: discover("local", []*Model{{Provider: "local", ID: "known"}, {Provider: "local", ID: "new", ContextWindow: 7}}, nil)}
	m.Register(local)
	m.Register(ProviderSpec{Name: "down", Discover: discover("down", nil, errors.New("refused"))})
	m.Register(ProviderSpec{Name: "keyless", HasKey: func() bool { return false }, Discover: discover("keyless", nil, nil)})
	problems := m.Discover(t.Context(), time.Minute)
	if len(asked) != 2 || fmt.Sprint(problems) != "[ask down for its models: refused]" {
		t.Errorf("%d asked, problems %v", len(asked), problems)
	}
	if got := fmt.Sprint(refsOf(m.Available())); got != "[cloud/big local/known local/new]" {
		t.Error(got)
	}
	if known, found := m.Find("local", "known"), m.Find("local", "new"); known.ContextWindow != 5 || found.ContextWindow != 7 {
		t.Errorf("%+v %+v", known, found)
	}
	if found, _, err := m.Match("new:low"); err != nil || found.ContextWindow != 7 {
		t.Errorf("%+v %v", found, err)
	}
	m.Register(local)
	if m.Find("local", "new").Name != "opened" {
		t.Error("what the provider had before it was registered anew is still there")
	}
}

func TestOfALongListTheOthersCanBeNamed(t *testing.T) {
	m := NewModels(nil)
	m.Register(ProviderSpec{Name: "crowd",
		Open: func(id string) *Model { return &Model{Provider: "crowd", ID: id, Name: "opened"} },
		Discover: func(context.Context) ([]*Model, error) {
			return []*Model{{Provider: "crowd", ID: "first"}}, &LongList{"crowd", 5000, 5003}
		}})
	const told = "[crowd has 5003 models in its list: the first 5000 were read, the other 3 can be named]"
	if problems := m.Discover(t.Context(), time.Minute); fmt.Sprint(problems) != told {
		t.Errorf("%v", problems)
	}
	if got := fmt.Sprint(refsOf(m.All())); got != "[crowd/first]" {
		t.Error(got)
	}
	if m.NotThere("crowd", "last") != "" || m.Unlisted(m.Find("crowd", "last")) != "" {
		t.Errorf("one behind them is not believed: %q", m.NotThere("crowd", "last"))
	}
}

func TestProviderThatDoesNotAnswerIsNotWaitedForLong(t *testing.T) {
	m := NewModels(nil)
	m.Register(ProviderSpec{Name: "silent", Discover: func(ctx context.Context) ([]*Model, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	problems := m.Discover(t.Context(), time.Millisecond)
	if len(problems) != 1 || !errors.Is(problems[0], context.DeadlineExceeded) || problems[0].Error() != "ask silent for its models: no answer within 1ms" {
		t.Error(problems)
	}
}

func refsOf(models []*Model) (refs []string) {
	for _, model := range models {
		refs = append(refs, model.Ref())
	}
	return refs
}
