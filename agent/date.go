package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
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

// dateNote returns the message that tells the model which day it is now; nil if it sees that:
// in the system prompt of a session that began then, or in the last such message of the
// context. Where a compaction or a hook took that away, it is told again.
func dateNote(seen []session.Item, began, now time.Time) *message.Message {
	today := now.Format(time.DateOnly)
	if today == cmp.Or(toldDate(seen), dateOf(began, now)) {
		return nil
	}
	details, _ := json.Marshal(dateDetails{today}) // a string always encodes
	return &message.Message{Role: message.RoleCustom, CustomType: session.DateChange, Details: details,
		Content: []message.Block{message.TextBlock(fmt.Sprintf("The date has changed: it is %s now.", today))}}
}

// toldDate returns the last date that a message of a context tells; "" if none does.
func toldDate(seen []session.Item) string {
	for i := len(seen) - 1; i >= 0; i-- {
		if m := seen[i].Message; m.Role == message.RoleCustom && m.CustomType == session.DateChange {
			var told dateDetails
			if json.Unmarshal(m.Details, &told) == nil {
				return told.Date
			}
		}
	}
	return ""
}
