package session

import (
	"encoding/json"
	"strings"
	"testing"

	"pi/session/message"
)

// loaded is the message of a session whose only entry holds it.
func loaded(t *testing.T, message string) *message.Message {
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
	written, err := json.Marshal(&message.Message{Role: message.RoleBashExecution, Command: "ls", Output: "a", Cancelled: true, Timestamp: 5})
	if err != nil || string(written) != command {
		t.Errorf("%s, %v; want %s", written, err, command)
	}
	zero := 0
	written, err = json.Marshal(&message.Message{Role: message.RoleBashExecution, Command: "ls", Output: "a", ExitCode: &zero, Timestamp: 5})
	if err != nil || !strings.Contains(string(written), `"exitCode":0`) {
		t.Errorf("a status of 0 is written as %s, %v", written, err)
	}
}

func TestALineOfAnOldVersionThatCannotBeTakenApartStaysAsItIs(t *testing.T) {
	for _, line := range []string{`{"type":"message","message":{"role":"user"`, `{"type":"compaction","firstKeptEntryIndex":1`, `[]`} {
		tr := newTree()
		e := &Entry{ID: "1", Type: TypeMessage, raw: []byte(line)}
		if got := tr.upgraded(e, 1); string(got) != line {
			t.Errorf("%s became %s", line, got)
		}
	}
	broken := `{"type":"message","id":"1","parentId":null,"timestamp":"t","message":{"role":"hookMessage","content":,}}`
	s := read(t, write(t, strings.Replace(headerLine, `"version":3`, `"version":2`, 1), broken))
	if got := string(s.Entries()[0].Raw()); got != broken {
		t.Errorf("%s became %s", broken, got)
	}
}
