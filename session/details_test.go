package session

import (
	"encoding/json"
	"strings"
	"testing"
)

// loaded is the message of a session whose only entry holds it.
func loaded(t *testing.T, message string) *Message {
	t.Helper()
	s := readWith(t, write(t, headerLine,
		`{"type":"message","id":"m1","parentId":null,"timestamp":"2025-01-02T03:04:05.006Z","message":`+message+`}`), 0)
	return s.Entries()[0].Message()
}

func TestALoadedMessageHasTheTimeThatItWasWrittenWith(t *testing.T) {
	for _, message := range []string{
		`{"role":"user","content":"a","timestamp":1735787045006}`,
		`{"role":"assistant","content":[],"timestamp":1735787045006}`,
		`{"role":"toolResult","toolCallId":"c","toolName":"t","content":[],"isError":false,"timestamp":1735787045006}`,
		`{"role":"bashExecution","command":"ls","output":"","cancelled":false,"truncated":false,"timestamp":1735787045006}`,
	} {
		if at := loaded(t, message).Timestamp; at != 1735787045006 {
			t.Errorf("%s has the time %d", message, at)
		}
	}
}

func TestACommandWithoutExitStatusHasNoneInTheFile(t *testing.T) {
	const command = `{"role":"bashExecution","command":"ls","output":"a","cancelled":true,"truncated":false,"timestamp":5}`
	m := loaded(t, command)
	if m.ExitCode != nil {
		t.Errorf("it is read as %d", *m.ExitCode)
	}
	written, err := json.Marshal(&Message{Role: RoleBashExecution, Command: "ls", Output: "a", Cancelled: true, Timestamp: 5})
	if err != nil || string(written) != command {
		t.Errorf("%s, %v; want %s", written, err, command)
	}
	zero := 0
	written, err = json.Marshal(&Message{Role: RoleBashExecution, Command: "ls", Output: "a", ExitCode: &zero, Timestamp: 5})
	if err != nil || !strings.Contains(string(written), `"exitCode":0`) {
		t.Errorf("a status of 0 is written as %s, %v", written, err)
	}
}

func TestTheCheckerSaysWhetherAStringStandsThere(t *testing.T) {
	for text, length := range map[string]int{
		`""`: 2, `"a"x`: 3, `"\""`: 4, `"\u00e9"`: 8, "\"é\"": 4,
		"\"a\nb\"": -1, "\"\x00\"": -1, "\"\x1f\"": -1, `"\x"`: -1, `"\u12"`: -1, `"\u12g4"`: -1, `"a`: -1, `"`: -1, `"\"`: -1, `"\`: -1,
	} {
		c := checker{b: []byte(text)}
		if ok := c.str(); ok != (length >= 0) || ok && c.i != length {
			t.Errorf("%q: %v, up to %d; want %d", text, ok, c.i, length)
		}
	}
}

func TestALineOfVersion1ThatCannotBeTakenApartStaysAsItIs(t *testing.T) {
	for _, line := range []string{`{"type":"message","message":{"role":"user"`, `{"type":"compaction","firstKeptEntryIndex":1`, `[]`} {
		s := &Session{header: Header{Version: 1}}
		e := &Entry{ID: "1", Type: TypeMessage, raw: []byte(line)}
		if got := s.upgradeLinear(e); string(got) != line {
			t.Errorf("%s became %s", line, got)
		}
	}
}
