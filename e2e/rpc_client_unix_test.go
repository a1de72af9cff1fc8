//go:build unix

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// rpcClient is a client of RPC: it reads all records at once and keeps them, in their order.
// Its methods are for one goroutine, that of the test.
type rpcClient struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	stderr bytes.Buffer // when it has ended
	last   int          // the id that was given last
	next   int          // the first record that words has not told yet
	called map[string]bool

	mu      sync.Mutex // guards what follows
	changed *sync.Cond
	records []rpcRecord
	ended   bool // the output is at its end
}

// rpcRecord is a record. Which fields mean something depends on Type.
type rpcRecord struct {
	Type, Command, Method, Error, Message string
	ID                                    json.RawMessage
	Success                               bool
	Data                                  json.RawMessage
	line                                  string
}

// text is the id of a request of a hook.
func (r rpcRecord) text() string { return strings.Trim(string(r.ID), `"`) }

// client starts pi --mode rpc for a client that reads.
func (w *world) client(args ...string) *rpcClient {
	w.t.Helper()
	c := w.silentClient(args...)
	c.startReading()
	return c
}

// silentClient is client for one that reads nothing yet.
func (w *world) silentClient(args ...string) *rpcClient {
	w.t.Helper()
	c := &rpcClient{t: w.t.(*testing.T), cmd: w.command(append([]string{"--mode", "rpc"}, args...)...), called: map[string]bool{}}
	c.changed = sync.NewCond(&c.mu)
	c.cmd.Stderr = &c.stderr
	var err error
	if c.in, err = c.cmd.StdinPipe(); err == nil {
		if c.out, err = c.cmd.StdoutPipe(); err == nil {
			err = c.cmd.Start()
		}
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.cmd.Process.Kill() })
	return c
}

func (c *rpcClient) startReading() { go c.read(bufio.NewReaderSize(c.out, 1<<20)) }

func (c *rpcClient) read(out *bufio.Reader) {
	for {
		line, err := out.ReadString('\n')
		c.mu.Lock()
		if err != nil {
			c.ended = true
			c.changed.Broadcast()
			c.mu.Unlock()
			return
		}
		c.records = append(c.records, c.decode(strings.TrimSuffix(line, "\n")))
		c.changed.Broadcast()
		c.mu.Unlock()
	}
}

func (c *rpcClient) decode(line string) rpcRecord {
	var r struct {
		rpcRecord
		Message any // of an event it is an object
	}
	if err := json.Unmarshal([]byte(line), &r); err != nil || r.Type == "" {
		c.t.Errorf("no record: %.500s", line)
	}
	if strings.Contains(line, testKey) {
		c.t.Errorf("the key is in %s", line)
	}
	r.rpcRecord.Message, _ = r.Message.(string)
	r.line = line
	return r.rpcRecord
}

// write writes text as it is. That the program has ended is no error.
func (c *rpcClient) write(text string) { _, _ = io.WriteString(c.in, text) }

// start sends a command and returns its id.
func (c *rpcClient) start(kind string, fields object) (id string) {
	c.t.Helper()
	c.last++
	c.called[kind] = true
	id = fmt.Sprintf(`"%d"`, c.last)
	command := object{"id": fmt.Sprint(c.last), "type": kind}
	maps.Copy(command, fields)
	text, err := json.Marshal(command)
	if err != nil {
		c.t.Fatal(err)
	}
	c.write(string(text) + "\n")
	return id
}

// answer waits for the answer with an id.
func (c *rpcClient) answer(id string) rpcRecord {
	c.t.Helper()
	return c.wait("the answer to "+id, func(r rpcRecord) bool { return r.Type == "response" && string(r.ID) == id })
}

// call sends a command that must succeed, and decodes the data of its answer into data.
func (c *rpcClient) call(kind string, fields object, data any) {
	c.t.Helper()
	c.succeeds(c.start(kind, fields), data)
}

// succeeds waits for the answer with an id, which must not be a refusal.
func (c *rpcClient) succeeds(id string, data any) {
	c.t.Helper()
	r := c.answer(id)
	if !r.Success {
		c.t.Errorf("refused: %s", r.line)
	}
	if data == nil {
		return
	}
	if err := json.Unmarshal(r.Data, data); err != nil {
		c.t.Errorf("%s: %v", r.line, err)
	}
}

// refused sends a command that must be refused with these words.
func (c *rpcClient) refused(kind string, fields object, words string) {
	c.t.Helper()
	if r := c.answer(c.start(kind, fields)); r.Success || !strings.Contains(r.Error, words) {
		c.t.Errorf("%s, want a refusal with %q", r.line, words)
	}
}

// wait waits for the first record that is, and returns it.
func (c *rpcClient) wait(what string, is func(rpcRecord) bool) rpcRecord {
	c.t.Helper()
	return c.waitFrom(0, what, is)
}

// waitFrom is wait for records behind the first n. Its patience begins anew with each record
// that comes: a busy machine takes long over tens of thousands.
func (c *rpcClient) waitFrom(n int, what string, is func(rpcRecord) bool) rpcRecord {
	c.t.Helper()
	late := time.AfterFunc(patience, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ended = true
		c.changed.Broadcast()
	})
	defer late.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for ; ; c.changed.Wait() {
		for ; n < len(c.records); n++ {
			if is(c.records[n]) {
				return c.records[n]
			}
			late.Reset(patience)
		}
		if c.ended {
			c.t.Fatalf("pi did not write %s", what)
		}
	}
}

// event waits for a record of a type behind the first n.
func (c *rpcClient) event(n int, kind string) rpcRecord {
	c.t.Helper()
	return c.waitFrom(n, kind, func(r rpcRecord) bool { return r.Type == kind })
}

// sofar returns the records that have come.
func (c *rpcClient) sofar() []rpcRecord {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.records[:len(c.records):len(c.records)]
}

// words are the events that came since it was called before, in the notation of jsonRun.
func (c *rpcClient) words() string {
	c.t.Helper()
	var words []string
	records := c.sofar()
	for _, r := range records[c.next:] {
		if r.Type != "response" {
			words = append(words, recordWord(c.t, r.line))
		}
	}
	c.next = len(records)
	return strings.Join(joinWords(words), " ")
}

// prompts sends a prompt, waits until it has settled and wants these events.
func (c *rpcClient) prompts(fields object, want string) {
	c.t.Helper()
	n := len(c.sofar())
	c.words()
	var data struct{ Disposition string }
	if c.call("prompt", fields, &data); data.Disposition != "started" {
		c.t.Errorf("the prompt is %s", data.Disposition)
	}
	c.event(n, "agent_settled")
	if got := c.words(); got != want {
		c.t.Errorf("%v\n%s\nwant\n%s", fields, got, want)
	}
}

// end closes the input, reads the rest and returns the exit status.
func (c *rpcClient) end() int {
	_ = c.in.Close()
	return c.status()
}

// status waits for the end and returns the exit status.
func (c *rpcClient) status() int {
	c.mu.Lock()
	for !c.ended {
		c.changed.Wait()
	}
	c.mu.Unlock()
	_ = c.cmd.Wait()
	return c.cmd.ProcessState.ExitCode()
}
