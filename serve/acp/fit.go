package acp

import "pi/internal/printable"

// Clients take lines of a certain size only, so none is written that is larger than 16 MiB.
// A text is sent in pieces, and of a call is left out what is too large to be shown anyway.

const (
	mostText    = 2 << 20 // bytes of text in one line; escaped they are up to six times as many
	mostContent = 2 << 20 // bytes of text or arguments of a call
	mostImage   = 14 << 20
)

// fit returns the updates that u is sent as.
func fit(u update) []update {
	switch u := u.(type) {
	case chunk:
		return fitChunk(u)
	case toolCall:
		return []update{fitCall(u)}
	case compactionUpdate:
		if u.Summary != nil && len(*u.Summary) == 1 {
			u.Summary = &[]textContent{textOf(cut((*u.Summary)[0].Text, mostText))}
		}
		return []update{u}
	}
	return []update{u}
}

// fitChunk divides a chunk of text.
func fitChunk(c chunk) (parts []update) {
	if image, ok := c.Content.(imageContent); ok && len(image.Data) > mostImage {
		c.Content = textOf(tooLarge("image", len(image.Data)/4*3))
		return []update{c}
	}
	text, ok := c.Content.(textContent)
	if !ok {
		return []update{c}
	}
	for rest := text.Text; ; {
		piece := cut(rest, mostText)
		part := c
		part.Content = textOf(piece)
		parts = append(parts, part)
		if rest = rest[len(piece):]; rest == "" {
			return parts
		}
	}
}

// fitCall leaves out of a call what is too large.
func fitCall(c toolCall) toolCall {
	if len(c.RawInput) > mostContent {
		c.RawInput = nil
	}
	if c.Content == nil {
		return c
	}
	room := mostImage
	content := make([]any, 0, len(*c.Content))
	for _, item := range *c.Content {
		item, size := fitContent(item, room)
		room -= size
		content = append(content, item)
	}
	c.Content = &content
	return c
}

// fitContent returns an item of the content of a call, or what is shown in its place if it is
// too large or there is no room for it.
func fitContent(item any, room int) (_ any, size int) {
	switch item := item.(type) {
	case diff:
		size := len(item.NewText)
		if item.OldText != nil {
			size += len(*item.OldText)
		}
		if size > mostContent || 6*size > room {
			return contentOf(textOf(tooLarge("difference of "+item.Path, size))), 200
		}
		return item, 6 * size
	case toolContent:
		switch block := item.Content.(type) {
		case imageContent:
			if len(block.Data) > room {
				return contentOf(textOf(tooLarge("image", len(block.Data)/4*3))), 200
			}
			return item, len(block.Data)
		case textContent:
			if n := len(block.Text); n > mostContent || 6*n > room {
				block.Text = cut(block.Text, min(mostContent, max(room/6, 0))) + "\n" + tooLarge("output", n)
				item.Content = block
			}
			return item, 6 * len(block.Text)
		}
	}
	return item, 0
}

func tooLarge(what string, size int) string {
	return "[the " + what + " is too large to be shown: " + printable.Bytes(size) + "]"
}
