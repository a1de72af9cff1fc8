package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"pi/session"
	"pi/session/message"
)

// The system prompt has the date on which the session began, so that all its requests begin
// alike: what a provider has cached stays of use, and thoughts that are bound to the prompt
// stay valid. When the day has changed, a message behind the next prompt says so.

// dateOf returns the day on which a session began, in the time zone of now; the present day
// if that is not known (the zero time). For somebody who travels it may become another day,
// which costs the cached prompt once.
func dateOf(began, now time.Time) string {
	if began.IsZero() {
		began = now
	}
	return began.In(now.Location()).Format(time.DateOnly)
}

// dateDetails are the details of the message that tells of another day.
type dateDetails struct {
	Date string `json:"date"`
}

// addDate adds a message behind a prompt that tells the model which day it is, if it sees
// another one: in the system prompt, or in the last such message of the context. Where a
// compaction or a hook took that away, it is told again.
func (r *run) addDate(ctx context.Context) error {
	now := r.now()
	today := now.Format(time.DateOnly)
	known := dateOf(r.conversation.current().Began(), now)
	seen, _ := r.conversation.seen()
	for _, it := range slices.Backward(seen) {
		if it.Message.Role != message.RoleCustom || it.Message.CustomType != session.DateChange {
			continue
		}
		var told dateDetails
		if json.Unmarshal(it.Message.Details, &told) == nil {
			known = cmp.Or(told.Date, known)
			break
		}
	}
	if known == today {
		return nil
	}
	details, _ := json.Marshal(dateDetails{today}) // a string always encodes
	_, err := r.appendCustom(ctx, &message.Message{Role: message.RoleCustom, CustomType: session.DateChange, Details: details,
		Content: []message.Block{message.TextBlock(fmt.Sprintf("The date has changed: it is %s now.", today))}})
	return err
}
