package responses

import (
	"encoding/json"
	"strings"

	"pi/agent/provider"
)

// longestID is the length of the ids of items that servers take back.
const longestID = 64

// textSignature is the signature of a text block whose message has a phase.
type textSignature struct {
	Version int    `json:"v"`
	ID      string `json:"id"`
	Phase   string `json:"phase,omitempty"`
}

// signText is the signature of a message: its id, and the phase if it has one.
func signText(id, phase string) string {
	if phase == "" {
		return id
	}
	signature, err := provider.Encode(textSignature{1, id, phase})
	if err != nil {
		return id
	}
	return string(signature)
}

// readTextSignature returns the id and the phase that signText put into a signature;
// the id is "" if servers would not take it back.
func readTextSignature(signature string) (id, phase string) {
	s := textSignature{ID: signature}
	if strings.HasPrefix(signature, "{") {
		s = textSignature{}
		if json.Unmarshal([]byte(signature), &s) != nil {
			return "", ""
		}
	}
	return ownID(s.ID, "msg_"), s.Phase
}

// callID is how a call is named in the session.
func callID(call, item string) string {
	if item == "" {
		return call
	}
	return call + "|" + item
}

// itemID is the id of the item of a call, if it can be sent.
func itemID(id string) string {
	_, item, _ := strings.Cut(id, "|")
	return ownID(item, "fc_")
}

// ownID returns an id of a form that servers take back, or "".
func ownID(id, prefix string) string {
	if len(id) > longestID || !strings.HasPrefix(id, prefix) {
		return ""
	}
	return id
}
