package agent

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/jpeg"
	"image/png"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pi/internal/picture"
	"pi/session"
	"pi/session/message"
)

// imageOf is an image of a size, as a block.
func imageOf(t *testing.T, width, height int) message.Block {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return message.ImageBlock("image/png", b.Bytes())
}

func bytesOf(t *testing.T, b message.Block) []byte {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(b.Data)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// pixelsOf are the sizes of the images of a content, with their types.
func pixelsOf(t *testing.T, content []message.Block) (all []string) {
	t.Helper()
	for _, b := range content {
		if b.Type == message.BlockImage {
			all = append(all, b.MimeType+" "+picture.SizeOf(bytesOf(t, b)).Pixels())
		}
	}
	return all
}

// imagesIn are the sizes of all images that the model would see, and of those in the file.
func imagesIn(t *testing.T, r *harness) (seen, stored []string) {
	t.Helper()
	for _, it := range r.Session().Context() {
		seen = append(seen, pixelsOf(t, it.Message.Content)...)
	}
	for _, e := range again(r).Branch() {
		if m := e.Message(); m != nil {
			stored = append(stored, pixelsOf(t, m.Content)...)
		}
	}
	return seen, stored
}

// Whichever way an image comes into the session, it is small enough by then.
func TestNoLargeImageGetsIntoTheSession(t *testing.T) {
	large := []message.Block{message.TextBlock("look"), imageOf(t, 2500, 50)}
	custom := func() *message.Message {
		return &message.Message{Role: message.RoleCustom, CustomType: "shot", Content: large, Display: true}
	}
	takes := func(context.Context) (Result, error) { return Result{Content: large}, nil }
	says := func(context.Context) (Result, error) { return TextResult("done"), nil }
	camera := []reply{use(call{"c1", "camera", "{}"}), say("seen")}
	for _, c := range []struct {
		name    string
		listen  Listener
		tool    func(context.Context) (Result, error)
		replies []reply
		do      func(r *harness) error // nil: a prompt
	}{
		{name: "a prompt", replies: []reply{say("seen")}, do: func(r *harness) error {
			return r.Prompt(r.t.Context(), Prompt{Text: "what is this", Attachments: large})
		}},
		{name: "a hook that rewrites a prompt", replies: []reply{say("seen")}, listen: on(func(e *Input) { e.Attachments = large })},
		{name: "a prompt that waited", replies: []reply{say("seen")}, do: func(r *harness) error {
			if _, err := r.Enqueue(r.t.Context(), Prompt{Text: "and this", Attachments: large, WhileIdle: true}, Steer); err != nil {
				return err
			}
			return r.Prompt(r.t.Context(), Prompt{Text: "go"})
		}},
		{name: "a message behind a prompt", replies: []reply{say("seen")}, listen: on(func(e *BeforeAgentStart) { e.Messages = append(e.Messages, custom()) })},
		{name: "a message that a hook sends", replies: []reply{say("seen")}, do: func(r *harness) error {
			r.prompt("go")
			return r.SendCustom(r.t.Context(), Prompt{Custom: custom()}, DeliverSteer, false)
		}},
		{name: "a message that waited for a prompt", replies: []reply{say("seen")}, do: func(r *harness) error {
			if err := r.SendCustom(r.t.Context(), Prompt{Custom: custom()}, DeliverNextTurn, false); err != nil {
				return err
			}
			return r.Prompt(r.t.Context(), Prompt{Text: "go"})
		}},
		{name: "the result of a tool", replies: camera, tool: takes},
		{name: "a hook that rewrites a result", replies: camera, tool: says, listen: on(func(e *ToolResult) { e.Result.Content = large })},
		{name: "an entry of a hook", replies: []reply{say("seen")}, listen: on(func(e *TurnEnd) {
			e.Entries = []session.Draft{{Type: session.TypeCustomMessage, Body: session.CustomMessage{CustomType: "shot", Content: large}}}
		})},
		{name: "a lasting edit of a hook", replies: camera, tool: says, listen: on(func(e *TurnEnd) {
			for _, id := range e.EntryIDs[1:] { // the result; nil at the second turn
				e.Entries = []session.Draft{{Type: session.TypeContextEdit, Body: session.ContextEdit{TargetID: id, Replacement: &session.Replacement{Content: large}}}}
			}
		})},
		{name: "a lasting edit", replies: []reply{say("seen")}, do: func(r *harness) error {
			r.prompt("go")
			_, err := r.EditContext(r.t.Context(), r.Session().Context()[0].Entry.ID, &session.Replacement{Content: large})
			return err
		}},
	} {
		for scale, want := range map[bool]string{true: "image/jpeg 2000×40", false: "image/png 2500×50"} {
			t.Run(c.name, func(t *testing.T) {
				o := Options{Settings: Settings{ImageScale: scale}}
				if c.listen != nil {
					o.Listeners = append(o.Listeners, c.listen)
				}
				if c.tool != nil {
					o.Tools = append(o.Tools, tool("camera", c.tool))
				}
				r := newHarness(t, o, c.replies...)
				do := c.do
				if do == nil {
					do = func(r *harness) error { return r.Prompt(r.t.Context(), Prompt{Text: "go"}) }
				}
				if err := do(r); err != nil {
					t.Fatal(err)
				}
				seen, stored := imagesIn(t, r)
				edits := strings.Contains(c.name, "edit") // whose entries have no message
				if len(seen) == 0 || slices.ContainsFunc(seen, func(s string) bool { return s != want }) || !edits && !slices.Equal(stored, seen) {
					t.Errorf("scaled %v: the model sees %q, stored is %q, want %s", scale, seen, stored, want)
				}
			})
		}
	}
	if got := pixelsOf(t, large); got[0] != "image/png 2500×50" {
		t.Errorf("what was given is changed: %q", got)
	}
}

// Both sizes are told: to the user, or behind the result of a tool.
func TestBothSizesOfAnImageAreTold(t *testing.T) {
	large := imageOf(t, 2500, 50)
	damaged := message.ImageBlock("image/png", []byte("\x89PNG\r\n\x1a\n"+strings.Repeat("x", picture.MostBytes)))
	sent, err := picture.Fit(bytesOf(t, large))
	if err != nil {
		t.Fatal(err)
	}
	sizes := sent.String()
	const no = "image 2 is left out: the image (3.8 MB) cannot be brought within what models take (2000 pixels a side, 3.75 MB), for it is damaged or of a kind that is not known; make a smaller copy as PNG or JPEG"
	l := &log{}
	content := []message.Block{large, damaged, imageOf(t, 20, 10)}
	r := newHarness(t, Options{Settings: Settings{ImageScale: true}, Listeners: []Listener{l},
		Tools: []Tool{tool("camera", func(context.Context) (Result, error) { return Result{Content: content}, nil })}},
		use(call{"c1", "camera", "{}"}), say("seen"))
	if err := r.Prompt(t.Context(), Prompt{Text: "what is this", Attachments: content}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"image 1: " + sizes, no}; !slices.Equal(l.notes, want) {
		t.Errorf("told %q, want %q", l.notes, want)
	}
	var texts []string
	for _, it := range r.Session().Context() {
		for _, b := range it.Message.Content {
			if b.Type == message.BlockImage {
				texts = append(texts, b.MimeType)
			} else if b.Type == message.BlockText {
				texts = append(texts, b.Text)
			}
		}
	}
	want := []string{"what is this", "image/jpeg", "[" + no + "]", "image/png", "image/jpeg", "[" + no + "]", "image/png", "[image 1: " + sizes + "]", "seen"}
	if !slices.Equal(texts, want) {
		t.Errorf("the session has\n%s\nwant\n%s", strings.Join(texts, "\n"), strings.Join(want, "\n"))
	}
}

// What a lenient decoder can read, and no server knows, has no type to be sent under.
func TestAnImageOfNoTypeIsLeftOut(t *testing.T) {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 20, 10)), nil); err != nil {
		t.Fatal(err)
	}
	odd := message.ImageBlock("image/jpeg", slices.Insert(b.Bytes(), 2, 0))
	l := &log{}
	r := newHarness(t, Options{Settings: Settings{ImageScale: true}, Listeners: []Listener{l}}, say("seen"))
	if err := r.Prompt(t.Context(), Prompt{Text: "what is this", Attachments: []message.Block{odd}}); err != nil {
		t.Fatal(err)
	}
	if seen, _ := imagesIn(t, r); len(seen) > 0 || !strings.HasPrefix(strings.Join(l.notes, ""), "image 1 is left out: it does not begin as an image") {
		t.Errorf("the model sees %q; told %q", seen, l.notes)
	}
}

// A session that another program or an earlier version wrote goes on, whatever images it has.
func TestLargeImagesOfASessionAreSentSmaller(t *testing.T) {
	damaged := message.ImageBlock("image/png", []byte("\x89PNG\r\n\x1a\n"+strings.Repeat("x", picture.MostBytes)))
	first := newHarness(t, Options{Tools: []Tool{tool("camera", func(context.Context) (Result, error) {
		return Result{Content: []message.Block{message.TextBlock("look"), imageOf(t, 50, 2500)}}, nil
	})}}, use(call{"c1", "camera", "{}"}), say("seen"))
	large := []message.Block{imageOf(t, 2500, 50), imageOf(t, 20, 10), damaged}
	if err := first.Prompt(t.Context(), Prompt{Text: "what is this", Attachments: large}); err != nil {
		t.Fatal(err)
	}
	file := first.Session().File()
	stored := first.file()
	if err := first.Session().Close(); err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(file, session.Options{Dir: filepath.Dir(file), Now: testTime})
	if err != nil {
		t.Fatal(err)
	}
	l := &log{}
	r := newHarness(t, Options{Session: s, Settings: Settings{ImageScale: true}, Listeners: []Listener{l}}, say("on"), say("still"), say("on"))
	r.prompt("on")
	r.prompt("and on")
	if _, err := r.Undo(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	r.prompt("instead")
	for i, request := range r.model.requests {
		var sent []string
		for _, m := range request.Messages {
			sent = append(sent, pixelsOf(t, m.Content)...)
		}
		if want := []string{"image/jpeg 2000×40", "image/png 20×10", "image/jpeg 40×2000"}; !slices.Equal(sent, want) {
			t.Errorf("request %d has %q, want %q", i+1, sent, want)
		}
	}
	if want := []string{
		"this session has 2 images larger than models take: smaller copies are sent, and its entries stay as they are",
		"this session has 1 image that models do not take: left out of what is sent, and its entries stay as they are",
	}; !slices.Equal(l.notes, want) {
		t.Errorf("told %q, want %q", l.notes, want)
	}
	if now := r.file(); !strings.HasPrefix(now, stored) || strings.Count(now, `"type":"context_edit"`) != 2 {
		t.Error("the session is not what it was, or has other edits than one for each entry")
	}
}
