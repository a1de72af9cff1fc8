package agent

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"pi/internal/picture"
	"pi/internal/printable"
	"pi/session"
	"pi/session/message"
)

// Images that are larger than models take are kept out of a session: a conversation is sent
// whole each time, and one such image would have all further requests refused.
//
// What brings an image into the session has the [imageScaler] look at it first: prompts of
// every front end, results of tools, and what hooks add to both and to the session. So what is
// stored is what the model is shown. What is attached to a typed prompt, and what the tool
// read returns, is small enough by then, and was told of in words of its own.
//
// The answers of hooks to the event context are not looked at: they are for one request and
// are stored nowhere, so scaling would be done again for each.
//
// What is in a session already, for another program or an earlier version wrote it, stays
// there as it is. Edits of the context have the model see a copy, see [imageScaler.session].

// imageScaler replaces images that are too large by smaller copies, and those of which there
// can be none by texts. The content that it is given does not change. Where the settings do
// not want that, all images stay as they are.
type imageScaler struct {
	settings *inForce
	events   *listeners
}

// tell tells the user of an image that is sent smaller, or is left out.
func (s imageScaler) tell(ctx context.Context, text string, leftOut bool) {
	level := LevelInfo
	if leftOut {
		level = LevelWarning
	}
	s.events.Notify(context.WithoutCancel(ctx), level, text)
}

// content returns content with its images scaled. The user is told of what changed.
func (s imageScaler) content(ctx context.Context, content []message.Block) []message.Block {
	return s.scaled(content, func(text string, leftOut bool) { s.tell(ctx, text, leftOut) })
}

// result returns the content of a tool's result with its images scaled. Texts behind it say
// what the images were, for the model and for whoever looks at the result.
func (s imageScaler) result(content []message.Block) []message.Block {
	var notes []message.Block
	content = s.scaled(content, func(text string, leftOut bool) {
		if !leftOut { // else it is said in the place of the image
			notes = append(notes, message.TextBlock("["+text+"]"))
		}
	})
	return append(slices.Clip(content), notes...)
}

// replacement is [imageScaler.content] for what an entry is replaced by; nil is nothing.
func (s imageScaler) replacement(ctx context.Context, r *session.Replacement) *session.Replacement {
	if r == nil {
		return nil
	}
	with := *r
	with.Content = s.content(ctx, r.Content)
	return &with
}

// body is [imageScaler.content] for the body of an entry that a hook adds.
func (s imageScaler) body(ctx context.Context, body any) any {
	switch b := body.(type) {
	case session.CustomMessage:
		b.Content = s.content(ctx, b.Content)
		return b
	case session.ContextEdit:
		b.Replacement = s.replacement(ctx, b.Replacement)
		return b
	}
	return body
}

// session edits the context of a session, which is items, so that smaller copies stand in
// the place of images in it that are too large. The user is told how many there are. The
// error is that of [session.Session.AppendAll].
func (s imageScaler) session(ctx context.Context, of *session.Session, items []session.Item) error {
	if !s.settings.get().ImageScale {
		return nil
	}
	var edits []session.Draft
	smaller, leftOut := 0, 0
	isBeyond := func(b message.Block) bool { return b.Type == message.BlockImage && !picture.IsWithin(b.Data) }
	for _, it := range items {
		if it.Entry == nil || !slices.ContainsFunc(it.Message.Content, isBeyond) {
			continue
		}
		before := smaller + leftOut
		content := s.scaled(it.Message.Content, func(_ string, out bool) {
			if out {
				leftOut++
			} else {
				smaller++
			}
		})
		if smaller+leftOut > before {
			edits = append(edits, session.Draft{Type: session.TypeContextEdit, Body: session.ContextEdit{TargetID: it.Entry.ID, Replacement: &session.Replacement{Content: content}}})
		}
	}
	if smaller > 0 {
		s.tell(ctx, fmt.Sprintf("this session has %s larger than models take: smaller copies are sent, and its entries stay as they are", printable.Count(smaller, "image")), false)
	}
	if leftOut > 0 {
		s.tell(ctx, fmt.Sprintf("this session has %s that models do not take: left out of what is sent, and its entries stay as they are", printable.Count(leftOut, "image")), true)
	}
	if len(edits) == 0 {
		return nil
	}
	_, err := of.AppendAll(edits)
	return err
}

// scaled returns content with its images scaled, and says of each that changed what became
// of it. Images are counted from 1.
func (s imageScaler) scaled(content []message.Block, say func(text string, leftOut bool)) []message.Block {
	if !s.settings.get().ImageScale {
		return content
	}
	var changed []message.Block // nil: nothing is
	number := 0
	for i, b := range content {
		if b.Type != message.BlockImage {
			continue
		}
		number++
		fitted, text, err := fitImage(b)
		if err == nil && fitted.MimeType == b.MimeType && text == "" {
			continue
		}
		if changed == nil {
			changed = slices.Clone(content)
		}
		changed[i] = fitted
		if err != nil {
			text = fmt.Sprintf("image %d is left out: %v", number, err)
			changed[i] = message.TextBlock("[" + text + "]")
		} else if text != "" {
			text = fmt.Sprintf("image %d: %s", number, text)
		}
		if text != "" {
			say(text, err != nil)
		}
	}
	if changed == nil {
		return content
	}
	return changed
}

// fitImage returns an image as it is to be sent, under the type that it is of, and says what a copy
// is of; "" for the image itself.
func fitImage(b message.Block) (fitted message.Block, about string, err error) {
	data, err := base64.StdEncoding.DecodeString(b.Data)
	if err != nil {
		return b, "", errors.New("its data are no base64")
	}
	f, err := picture.Fit(data)
	switch {
	case err != nil:
		return b, "", err
	case f.Type != "":
		return message.ImageBlock(f.Type, f.Data), f.String(), nil
	}
	if b.MimeType = message.ImageType(data); b.MimeType == "" { // a decoder that forgives much knows it
		return b, "", errors.New("it does not begin as an image of a kind that models take; make a copy as PNG or JPEG")
	}
	return b, "", nil
}
