package wiretest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// Resumed returns what is sent when a recorded session, cut off behind each of
// its entries, is resumed with a prompt. In it happens what upsets conversations:
// calls without results, results without calls, repeated ids, failed answers.
func Resumed(t *testing.T) [][]*message.Message {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(moduleRoot(t), "session", "testdata", "recorded.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	prompt := &message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("resumed")}}
	var all [][]*message.Message
	path := filepath.Join(t.TempDir(), "s.jsonl")
	for at := range text {
		if text[at] != '\n' {
			continue
		}
		if err := os.WriteFile(path, text[:at+1], 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := session.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, session.ForModel(append(s.Context(), session.Item{Message: prompt, Index: -1})))
	}
	return all
}

// Strict starts a server that refuses a request for what check finds wrong in
// it, and answers any other with answer.
func Strict(t *testing.T, check func(body []byte) error, answer string) *httptest.Server {
	t.Helper()
	return Answers(t, func(body []byte) (string, error) { return answer, errors.Join(checkText(body), check(body)) })
}

// Answers starts a server whose answers are made of the requests. One that gets an error
// is refused for it.
func Answers(t *testing.T, answer func(body []byte) (string, error)) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		said := ""
		if err == nil {
			said, err = answer(body)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, said)
	}))
	t.Cleanup(s.Close)
	return s
}

// checkText fails for what servers refuse a whole request for: bytes that are no UTF-8,
// and an escape that is half of a surrogate pair.
func checkText(body []byte) error {
	if !utf8.Valid(body) {
		return errors.New("the request is no UTF-8")
	}
	if at := halfPair.FindIndex(pair.ReplaceAll(escapes.ReplaceAll(body, nil), nil)); at != nil {
		return errors.New("the request holds half of a surrogate pair")
	}
	return nil
}

var (
	escapes  = regexp.MustCompile(`\\[^u]`)
	pair     = regexp.MustCompile(`\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`)
	halfPair = regexp.MustCompile(`\\u[dD][89a-fA-F]`)
)

// turns walks through a conversation and keeps which calls wait for a result.
type turns struct {
	ids        *regexp.Regexp
	separate   bool // a user does not follow a tool
	thoughtful bool // calls come with a thought
	open       []string
	seen       map[string]bool
}

// What ids of calls may look like.
var (
	messagesID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	chatID     = regexp.MustCompile(`^[!-~]{1,40}$`)
	nineID     = regexp.MustCompile(`^[A-Za-z0-9]{9}$`)
)

// call checks id, name and arguments of a call, which waits for its result from then
// on.
func (t *turns) call(id, name string, arguments []byte) error {
	if !t.ids.MatchString(id) || t.seen[id] {
		return fmt.Errorf("call id %q has a bad form or stands there twice", id)
	}
	if name == "" || !json.Valid(arguments) || !bytes.HasPrefix(arguments, []byte("{")) {
		return fmt.Errorf("call %s: name %q, arguments %s", id, name, arguments)
	}
	if t.seen == nil {
		t.seen = map[string]bool{}
	}
	t.seen[id] = true
	t.open = append(t.open, id)
	return nil
}

// result checks that a call with this id waits for its result; it waits no longer.
func (t *turns) result(id string) error {
	i := slices.Index(t.open, id)
	if i < 0 {
		return fmt.Errorf("a result of %q, which is no call of the answer before, or has one", id)
	}
	t.open = slices.Delete(t.open, i, i+1)
	return nil
}

// allAnswered checks that each tool call of the message before has its result. It is
// called where another message begins, so results cannot be further behind.
func (t *turns) allAnswered() error {
	if len(t.open) > 0 {
		return fmt.Errorf("calls %q have no result right behind their message", t.open)
	}
	return nil
}

type wireBlock struct {
	Type, Text, Thinking, Signature, Data, ID, Name string
	ToolUseID                                       string `json:"tool_use_id"`
	Input                                           json.RawMessage
	Content                                         []wireBlock
	Source                                          struct {
		MediaType string `json:"media_type"`
		Data      string
	}
}

type wireMessage struct {
	Role    string
	Content []wireBlock
}

// CheckMessages is as strict about a request as the Anthropic API: a user
// begins, roles alternate, all results of an answer's calls stand first in the
// message behind it, nothing is empty, an answer that is to be continued does not
// end in blanks, and with a budget it begins with a thought.
func CheckMessages(body []byte) error {
	var q struct {
		Thinking struct{ Type string }
		Messages []wireMessage
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return err
	}
	if len(q.Messages) == 0 {
		return errors.New("no messages")
	}
	if n := bytes.Count(body, []byte(`"cache_control":{`)); n > 4 {
		return fmt.Errorf("%d cache markers", n)
	}
	t := turns{ids: messagesID}
	for i := range q.Messages {
		if err := t.message(i, &q.Messages[i]); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	if err := t.allAnswered(); err != nil {
		return err
	}
	return checkEnd(q.Messages, q.Thinking.Type == "enabled")
}

// message checks a message of the messages API, the ith of the request.
func (t *turns) message(i int, m *wireMessage) error {
	if want := []string{"user", "assistant"}[i%2]; m.Role != want {
		return fmt.Errorf("it is of role %q, not %s", m.Role, want)
	}
	if len(m.Content) == 0 {
		return errors.New("it is empty")
	}
	for _, b := range m.Content {
		if err := t.block(m.Role, b); err != nil {
			return err
		}
	}
	if m.Role == "user" {
		return t.allAnswered()
	}
	return nil
}

// checkEnd checks an answer at the end, which the model has to continue: it has no
// blanks there, and with a thinking budget the turn begins with a thought.
func checkEnd(messages []wireMessage, budget bool) error {
	last := messages[len(messages)-1]
	if last.Role == "assistant" {
		if b := last.Content[len(last.Content)-1]; strings.TrimRight(b.Text, " \t\r\n") != b.Text {
			return errors.New("the last message ends in blanks")
		}
	}
	if kind := turnBegins(messages); budget && kind != "" && !strings.Contains(kind, "thinking") {
		return fmt.Errorf("with a budget for thinking, a turn to go on with begins with a block of type %q", kind)
	}
	return nil
}

// turnBegins is the type of the first block of the turn that the model has to go
// on with; "" if a new one begins. Results of calls do not end a turn.
func turnBegins(messages []wireMessage) string {
	kind := ""
	for _, m := range slices.Backward(messages) {
		if m.Role == "assistant" {
			kind = m.Content[0].Type
		} else if m.Content[0].Type != "tool_result" {
			break
		}
	}
	return kind
}

// block checks a block of the messages API: which types there may be, and what they
// need, depends on the role.
func (t *turns) block(role string, b wireBlock) error {
	switch role + " " + b.Type {
	case "user tool_result":
		if err := filled(b.Content); err != nil {
			return err
		}
		return t.result(b.ToolUseID)
	case "user text", "user image":
		if err := t.allAnswered(); err != nil {
			return err
		}
		return filled([]wireBlock{b})
	case "assistant tool_use":
		return t.call(b.ID, b.Name, b.Input)
	case "assistant text":
		return filled([]wireBlock{b})
	case "assistant thinking":
		if b.Signature == "" {
			return errors.New("a thought without a signature")
		}
		return nil
	case "assistant redacted_thinking":
		if b.Data == "" {
			return errors.New("a withheld thought without data")
		}
		return nil
	}
	return fmt.Errorf("a block of type %q of the %s", b.Type, role)
}

// filled checks that there are blocks, and that each is a text or an image that is not
// empty.
func filled(blocks []wireBlock) error {
	if len(blocks) == 0 {
		return errors.New("no content")
	}
	for _, b := range blocks {
		text := b.Type == "text" && strings.TrimSpace(b.Text) != ""
		image := b.Type == "image" && strings.HasPrefix(b.Source.MediaType, "image/") && b.Source.Data != ""
		if !text && !image {
			return fmt.Errorf("an empty block of type %q", b.Type)
		}
	}
	return nil
}

type chatMessage struct {
	Role       string
	Content    json.RawMessage
	Thought    *string `json:"reasoning_content"`
	ToolCallID string  `json:"tool_call_id"`
	ToolCalls  []struct {
		ID, Type string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

// CheckChat is as strict about a request as servers of the chat API: the prompt
// of the system may begin, then a user; the results of an answer's calls are the
// messages right behind it; nothing is empty.
func CheckChat(body []byte) error { return checkChat(body, turns{ids: chatID}) }

// CheckMistral is as strict as Mistral's copy of the chat API: ids have nine
// letters and digits, and no user speaks right behind a tool.
func CheckMistral(body []byte) error { return checkChat(body, turns{ids: nineID, separate: true}) }

// CheckDeepSeek is as strict as DeepSeek's copy of the chat API: an answer with
// calls of a model that thinks has its thought.
func CheckDeepSeek(body []byte) error { return checkChat(body, turns{ids: chatID, thoughtful: true}) }

// checkChat checks a request of the chat API. t has the rules of the kind of server,
// and no calls yet.
func checkChat(body []byte, t turns) error {
	var q struct{ Messages []chatMessage }
	if err := json.Unmarshal(body, &q); err != nil {
		return err
	}
	if len(q.Messages) > 0 && (q.Messages[0].Role == "system" || q.Messages[0].Role == "developer") {
		q.Messages = q.Messages[1:]
	}
	if len(q.Messages) == 0 || q.Messages[0].Role != "user" {
		return errors.New("no user message begins")
	}
	for i, m := range q.Messages {
		if t.separate && i > 0 && m.Role == "user" && q.Messages[i-1].Role == "tool" {
			return fmt.Errorf("message %d: a user right behind a tool", i)
		}
		if err := t.chat(m); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	return t.allAnswered()
}

// chat checks a message of the chat API: it is not empty, its results belong to waiting
// calls, and nothing else comes while calls wait.
func (t *turns) chat(m chatMessage) error {
	empty := len(m.Content) == 0 || slices.Contains([]string{"null", `""`, "[]"}, string(m.Content))
	if empty && len(m.ToolCalls) == 0 {
		return errors.New("it is empty")
	}
	if m.Role == "tool" {
		return t.result(m.ToolCallID)
	}
	if err := t.allAnswered(); err != nil {
		return err
	}
	if m.Role == "user" {
		return filledChat(m.Content)
	}
	if m.Role != "assistant" {
		return fmt.Errorf("a message of role %q", m.Role)
	}
	if t.thoughtful && len(m.ToolCalls) > 0 && m.Thought == nil {
		return errors.New("calls without reasoning_content")
	}
	for _, c := range m.ToolCalls {
		if err := t.call(c.ID, c.Function.Name, []byte(c.Function.Arguments)); err != nil {
			return err
		}
	}
	return nil
}

// filledChat checks that no part of a user's message is empty.
func filledChat(content json.RawMessage) error {
	var parts []struct {
		Type, Text string
		ImageURL   struct{ URL string } `json:"image_url"`
	}
	if content[0] == '[' {
		if err := json.Unmarshal(content, &parts); err != nil {
			return err
		}
	}
	for _, p := range parts {
		text := p.Type == "text" && p.Text != ""
		image := p.Type == "image_url" && strings.HasPrefix(p.ImageURL.URL, "data:image/")
		if !text && !image {
			return fmt.Errorf("a part of type %q that is empty", p.Type)
		}
	}
	return nil
}

// Interrupted returns what is sent after an answer whose calls never ran, when
// its session is gone on with: as often as asked, for models repeat their ids.
func Interrupted(t *testing.T, a Answer, m *llm.Model, times int) []*message.Message {
	t.Helper()
	s := session.New(session.Options{})
	add := func(msg *message.Message) {
		if _, err := s.AppendMessage(msg); err != nil {
			t.Fatal(err)
		}
	}
	prompt := &message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("go on")}}
	add(prompt)
	for range times {
		add(&message.Message{Role: message.RoleAssistant, API: m.API, Provider: m.Provider, Model: m.ID, Content: a.Content, StopReason: a.Stop.Reason})
		add(prompt)
	}
	return session.ForModel(s.Context())
}
