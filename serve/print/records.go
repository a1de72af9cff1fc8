package print

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"pi/agent"
	"pi/internal/jsonlines"
	"pi/serve/record"
)

// recordOutput is the output of JSON mode: the header of the session, then all events as
// records, each written as it comes. It has no answers besides: they are in the events.
type recordOutput struct {
	out      *jsonlines.Writer
	beside   *lines
	limit    time.Duration   // how long a reader that reads nothing may delay the end
	patience context.Context // ends when nobody waits for the reader any more, or nothing is written
	giveUp   context.CancelFunc

	mu         sync.Mutex // guards what follows, and that records are in the order of events
	translator *record.Translator
	begun      bool     // the header is written
	early      [][]byte // records from before it
}

func newRecordOutput(w io.Writer, beside *lines) *recordOutput {
	o := &recordOutput{out: jsonlines.NewWriter(w), beside: beside, limit: 2 * time.Second}
	o.patience, o.giveUp = context.WithCancel(context.Background())
	o.translator = record.NewTranslator(o.write)
	return o
}

// write writes a record, or keeps it until the header is there. The caller has locked mu. A
// record that cannot be written is lost, for there is nobody to read it: failure says so.
func (o *recordOutput) write(record []byte) {
	if !o.begun {
		o.early = append(o.early, record)
		return
	}
	_ = o.out.WriteJSON(record) // failure has the error, and close
}

// begin writes the header, and behind it the records that came early.
func (o *recordOutput) begin(ctx context.Context, a *agent.Agent) (context.Context, context.CancelFunc) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.begun = true
	o.write(record.Header(a.Session().Header()))
	for _, line := range o.early {
		o.write(line)
	}
	o.early = nil
	running, cancel := context.WithCancel(ctx)
	go o.watch(ctx, cancel)
	return running, cancel
}

// watch calls cancel when nobody reads the records any more. After the end of ctx it waits
// for a reader that reads nothing only so long: then what it did not read is dropped. It
// returns when the output is closed.
func (o *recordOutput) watch(ctx context.Context, cancel context.CancelFunc) {
	select {
	case <-o.out.Broken():
		cancel()
		return
	case <-o.patience.Done():
		return
	case <-ctx.Done():
	}
	now, end := context.WithCancel(context.WithoutCancel(ctx))
	end()
	for tick := time.NewTicker(o.limit); ; {
		select {
		case <-o.out.Broken():
			return
		case <-o.patience.Done():
			return
		case <-tick.C:
		}
		if o.out.Flush(now) != nil {
			o.giveUp()
			_ = o.out.Close(now) // those who wait for room get an error; what close returns is that of the output
			return
		}
	}
}

func (*recordOutput) answers([]string) error { return nil }

// status shows it to a user: it is no event.
func (o *recordOutput) status(text string) error {
	if text != "" {
		o.beside.write(text)
	}
	return nil
}

func (o *recordOutput) wants(k agent.Kind) bool { return o.translator.Wants(k) }

func (o *recordOutput) handle(e agent.Event) {
	if !o.translator.Wants(e.Kind()) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.translator.Handle(e)
}

func (o *recordOutput) failure() error { return asFailure(o.out.Err()) }

func (o *recordOutput) close() error {
	defer o.giveUp()
	return asFailure(o.out.Close(o.patience))
}

// asFailure returns an error of writing as the package names it.
func asFailure(err error) error {
	if errors.Is(err, jsonlines.ErrBrokenPipe) || errors.Is(err, context.Canceled) {
		return ErrBrokenPipe
	}
	return err
}
