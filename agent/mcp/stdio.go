package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pi/internal/child"
	"pi/internal/printable"
)

// maxMessage is how long a line of a server, or a body, may be; maxEvent is that of an event of a
// stream, for which several times as much is taken while it grows.
const (
	maxMessage = 16 << 20
	maxEvent   = 8 << 20
)

// errLongLine ends the connection to a server: where its line ends nobody waits to see.
var errLongLine = fmt.Errorf("it wrote a line longer than %s", printable.Bytes(maxMessage))

// running is a server that runs as a process of this program, in a session of its own.
type running struct {
	child  *child.Child
	stderr *lastRows
	log    *logFile
	name   string
	in     *io.PipeReader // its messages
	stop   context.CancelFunc
	done   sync.WaitGroup // what reads its output
}

// startServer starts the process of an entry, and returns it with what the SDK speaks through.
// dir is where it works unless the entry says another.
func startServer(e *Entry, env []string, dir string, o *Options, log *logFile) (*running, sdk.Transport, error) {
	if e.Cwd != "" {
		dir = e.Cwd
	}
	c, err := child.Start(child.Command{Name: e.Command, Args: e.Args, Dir: dir, Env: env, Watcher: o.Watcher})
	if err != nil {
		return nil, nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	in, out := io.Pipe()
	r := &running{child: c, stderr: &lastRows{}, log: log, name: e.Name, in: in, stop: stop}
	r.done.Go(func() { r.readMessages(ctx, out) })
	r.done.Go(func() { r.readErrors(ctx) })
	return r, &sdk.IOTransport{Reader: in, Writer: input{c}, MaxLineLength: -1}, nil
}

// input is what is written to a server.
type input struct{ child *child.Child }

func (i input) Write(b []byte) (int, error) {
	if err := i.child.Write(context.Background(), string(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (i input) Close() error {
	i.child.CloseStdin()
	return nil
}

// readMessages passes the messages of the server on to out until it has ended, or nobody
// wants more.
func (r *running) readMessages(ctx context.Context, out *io.PipeWriter) {
	sieve := newSieve(func(row string) { r.log.row(r.name, row) })
	end := error(io.EOF)
	r.child.Stdout.HandOver(ctx, func() child.Form { return child.Form{Max: 64 << 10} }, func(piece string) child.Answer {
		err := sieve.add(piece, func(line []byte) error {
			_, err := out.Write(line)
			return err
		})
		if err != nil {
			end = err
			return child.Enough
		}
		return child.Taken
	})
	sieve.tellLost()
	_ = out.CloseWithError(end)
}

// readErrors keeps what the server writes to its standard error.
func (r *running) readErrors(ctx context.Context) {
	may := newAllowance(maxLogBurst, maxLogRate)
	r.child.Stderr.HandOver(ctx, func() child.Form { return child.Form{Lines: true, Max: 4096} }, func(row string) child.Answer {
		r.stderr.add(row)
		if may.take(float64(len(row) + 1)) {
			if lost := may.takeLost(); lost > 0 {
				r.log.row(r.name, fmt.Sprintf("stderr: %s left out", printable.Count(lost, "row")))
			}
			r.log.row(r.name, "stderr: "+row)
		}
		return child.Taken
	})
	if lost := may.takeLost(); lost > 0 {
		r.log.row(r.name, fmt.Sprintf("stderr: %s left out", printable.Count(lost, "row")))
	}
}

// How much of what a server writes goes into the log: bytes at once, and in a second.
const (
	maxLogBurst = 1 << 20
	maxLogRate  = 16 << 10
)

// The steps of the end of a server: its input is closed, and it has a second; then TERM, and
// two seconds later KILL, for its whole group.
const endsByItself = time.Second

// end ends the server and what it has started, and returns when that is done.
func (r *running) end() {
	r.child.CloseStdin()
	late := time.NewTimer(endsByItself)
	defer late.Stop()
	select {
	case <-r.child.Exited():
		_ = r.in.Close()
		r.done.Wait() // its last words are still to be read
	case <-late.C:
	}
	r.child.Close()
	_ = r.in.Close()
	r.stop()
	r.done.Wait()
}

// fate says how the process ended; "" if it has not, or was ended.
func (r *running) fate() string {
	if r.child.IsRunning() {
		return ""
	}
	switch exit := r.child.Exit(); {
	case exit.Killed:
		return ""
	case exit.Signal != "":
		return "it was ended by " + exit.Signal
	case exit.Code != 0:
		return fmt.Sprintf("it ended with status %d", exit.Code)
	}
	return "it ended"
}

// sieve takes what a server writes apart into lines, and keeps back what would end the
// connection (what is no message) or fill the memory (more than somebody can deal with).
type sieve struct {
	log func(row string)

	parts    []string // of the line that is being read; joined when it has ended
	length   int      // of them
	rows     *allowance
	requests *allowance
	notices  *allowance
}

func newSieve(log func(row string)) *sieve {
	return &sieve{log: log, rows: newAllowance(maxLogBurst, maxLogRate), requests: newAllowance(200, 50), notices: newAllowance(500, 200)}
}

// add adds a piece of what the server wrote and gives each message that is whole, with its
// end of line. The error is that of give, or that the line is too long.
func (s *sieve) add(piece string, give func(line []byte) error) error {
	for piece != "" {
		end := strings.IndexByte(piece, '\n')
		part := piece[:end+1]
		if end < 0 {
			part = piece
		}
		if s.length += len(part); s.length > maxMessage {
			return errLongLine
		}
		piece = piece[len(part):]
		s.parts = append(s.parts, part)
		if end < 0 {
			continue
		}
		if line := s.sift(bytes.TrimSpace(s.take())); line != nil {
			if err := give(append(line, '\n')); err != nil { // there is room: an end of line was there
				return err
			}
		}
	}
	return nil
}

// take returns the line that has ended.
func (s *sieve) take() []byte {
	line := make([]byte, 0, s.length)
	for _, part := range s.parts {
		line = append(line, part...)
	}
	clear(s.parts)
	s.parts, s.length = s.parts[:0], 0
	return line
}

// head is what is looked at of a line before the SDK reads it.
type head struct {
	JSONRPC, Method, ID, Params, Result json.RawMessage
}

// sift returns what of a line is passed on: nil for what is no message, which goes into the
// log, and for more than somebody can deal with. What is left out is not read by the SDK, which
// takes 100 KB of memory for each line, however short: a flood of them was collected more
// slowly than it came.
func (s *sieve) sift(line []byte) []byte {
	if len(line) == 0 {
		return nil
	}
	var h head
	isNotice, isRequest := false, false // as it looks; the SDK is stricter
	m, err := jsonrpc.Message(nil), errors.New("no object")
	if line[0] == '{' && json.Unmarshal(line, &h) == nil {
		isNotice = h.Method != nil && h.ID == nil
		isRequest = h.Method != nil && h.ID != nil && string(h.ID) != "null"
		if isNotice && !s.passesNotice(strings.Trim(string(h.Method), `"`), h.Params) || isRequest && !s.requests.take(1) {
			return nil
		}
		line = s.cutList(line, h)
		m, err = jsonrpc.DecodeMessage(line)
	}
	if err != nil {
		if s.rows.take(float64(len(line))) {
			s.log("stdout: " + string(line[:min(len(line), maxLogRow)]))
		}
		return unreadable(line, err)
	}
	if r, ok := m.(*jsonrpc.Request); ok {
		passes := r.IsCall() && (isRequest || s.requests.take(1)) || !r.IsCall() && (isNotice || s.passesNotice(r.Method, r.Params))
		if !passes {
			return nil
		}
	}
	return line
}

// passesNotice reports whether a notification is passed on. What it is to say goes into the log,
// if that is what it is for.
func (s *sieve) passesNotice(method string, params json.RawMessage) bool {
	if method != "notifications/message" {
		return s.notices.take(1)
	}
	if s.rows.take(float64(len(params))) {
		s.log("log: " + string(params[:min(len(params), maxLogRow)]))
	}
	return false
}

// A page of a list that is longer than usualPage is cut to what is kept of lists and one more, so
// that it is seen that there are more; what the SDK makes of a page takes 20 times its length.
const (
	usualPage   = 256 << 10
	maxListItem = 1 << 20 // bytes of a tool, which would be left out anyway
)

// cutList returns an answer whose lists are not longer than what is kept of them.
func (s *sieve) cutList(line []byte, h head) []byte {
	if len(line) <= usualPage || string(h.JSONRPC) != `"2.0"` {
		return line
	}
	var result map[string]json.RawMessage
	if json.Unmarshal(h.Result, &result) != nil {
		return line
	}
	isList := false
	for _, key := range []string{"tools", "resources", "resourceTemplates", "prompts"} {
		if cut := s.cutItems(result[key]); cut != nil {
			result[key], isList = cut, true
		}
	}
	if !isList {
		return line
	}
	cut, err := encode(map[string]any{"jsonrpc": "2.0", "id": h.ID, "result": result})
	if err != nil {
		return line
	}
	return cut
}

// cutItems returns the items of a list that are kept, one after the other, since there may be
// millions; nil of what is no list.
func (s *sieve) cutItems(list json.RawMessage) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(list))
	if start, err := d.Token(); err != nil || start != json.Delim('[') {
		return nil
	}
	kept := []byte{'['}
	for n := 0; n <= maxListed && len(kept) <= maxDefinitions && d.More(); {
		var item json.RawMessage
		if d.Decode(&item) != nil {
			return nil
		}
		if len(item) > maxListItem {
			s.log(fmt.Sprintf("stdout: something of %s in a list left out", printable.Bytes(len(item))))
			continue
		}
		if n++; n > 1 {
			kept = append(kept, ',')
		}
		kept = append(kept, item...)
	}
	return append(kept, ']')
}

// unreadable is the answer in the place of one that cannot be read, so that nobody waits for
// it; nil if the line was no answer.
func unreadable(line []byte, err error) []byte {
	id := answerID(line)
	if id == nil {
		return nil
	}
	answer, err := encode(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{
		"code": jsonrpc.CodeInternalError, "message": "its answer cannot be read: " + err.Error()}})
	if err != nil {
		return nil
	}
	return answer
}

// answerID returns the id of the answer that a line is, or begins as; nil if it is none. The line
// need not be JSON to its end, and is not where it nests deeper than the decoder of whole values goes.
func answerID(line []byte) (id any) {
	read := json.NewDecoder(bytes.NewReader(line))
	read.UseNumber()
	depth, key, comesKey, isOurs, isAnswer := 0, "", false, false, false
	for {
		token, err := read.Token()
		if err != nil {
			break
		}
		switch at, isDelim := token.(json.Delim); {
		case isDelim && (at == '{' || at == '['):
			depth++
			comesKey = depth == 1
			continue
		case isDelim:
			depth--
			comesKey = true
			continue
		case depth != 1:
			continue
		case comesKey:
			key, _ = token.(string)
			isAnswer = isAnswer || key == "result" || key == "error"
		case key == "jsonrpc":
			isOurs = token == "2.0"
		case key == "id":
			id = token
		}
		comesKey = !comesKey
	}
	if !isOurs || !isAnswer || line[0] != '{' {
		return nil
	}
	return id
}

// tellLost logs what was kept back because it was too much.
func (s *sieve) tellLost() {
	for what, a := range map[string]*allowance{"row": s.rows, "request": s.requests, "notification": s.notices} {
		if lost := a.takeLost(); lost > 0 {
			s.log(fmt.Sprintf("stdout: %s left out, for it were too many", printable.Count(lost, what)))
		}
	}
}

// lastRows are the last rows of something that is written. All methods may be called from
// any goroutine.
type lastRows struct {
	mu   sync.Mutex
	rows []string
}

const keptRows = 20

func (l *lastRows) add(row string) {
	if row = printable.Cut(printable.Line(row), 400); row == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.rows) == keptRows {
		l.rows = slices.Delete(l.rows, 0, 1)
	}
	l.rows = append(l.rows, row)
}

func (l *lastRows) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.rows)
}
