package completion

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// sourceTime is how long a source has to answer.
const sourceTime = 300 * time.Millisecond

// Source is what a hook offers for words that begin with a character.
type Source struct {
	Prefix      string // "#"
	Description string // of the source, for items that have none
	Hook        string // the hook that it is from

	// Complete returns candidates for a word, which is given without the prefix. It may
	// ignore the word. Values may have the prefix or not, and an empty Append is a blank.
	// It has 300 ms, and less if somebody types on; ctx says so. It may be called again
	// while it runs.
	Complete func(ctx context.Context, word string) ([]Item, error)
}

// sourced completes the last word by the sources that it begins with the prefix of.
func (c *Completer) sourced(ctx context.Context, before string) Result {
	if c.Sources == nil {
		return Result{}
	}
	start := lastWord(before)
	word := before[start:]
	var asked []Source
	for _, s := range c.Sources() {
		if s.Prefix != "" && s.Complete != nil && strings.HasPrefix(word, s.Prefix) {
			asked = append(asked, s)
		}
	}
	if len(asked) == 0 {
		return Result{}
	}
	r := Result{Start: start, End: len(before), Typed: strings.TrimPrefix(word, asked[0].Prefix)}
	for i, items := range askSources(ctx, asked, word) {
		prefix := asked[i].Prefix
		r.Items = append(r.Items, rank(items, prefix, strings.TrimPrefix(word, prefix))...)
	}
	r.Items = uniqueItems(r.Items)
	return r
}

// askSources asks all sources at once, and returns what each had to say. One that is late
// says nothing, and neither does one that fails.
func askSources(ctx context.Context, asked []Source, word string) [][]Item {
	ctx, cancel := context.WithTimeout(ctx, sourceTime)
	defer cancel()
	var mu sync.Mutex
	answers := make([][]Item, len(asked))
	var wg sync.WaitGroup
	for i, s := range asked {
		wg.Go(func() {
			answer, err := s.Complete(ctx, strings.TrimPrefix(word, s.Prefix))
			mu.Lock()
			defer mu.Unlock()
			if err != nil || ctx.Err() != nil {
				return
			}
			for _, item := range answer {
				answers[i] = append(answers[i], s.whole(item))
			}
		})
	}
	all := make(chan struct{})
	go func() { wg.Wait(); close(all) }()
	select {
	case <-all:
	case <-ctx.Done():
	}
	mu.Lock()
	defer mu.Unlock()
	return slices.Clone(answers)
}

// whole is an item of a source as it replaces the whole word.
func (s Source) whole(item Item) Item {
	if item.Label == "" {
		item.Label = item.Value
	}
	if !strings.HasPrefix(item.Value, s.Prefix) {
		item.Value = s.Prefix + item.Value
	}
	if item.Description == "" {
		item.Description = s.Description
	}
	if item.Append == "" {
		item.Append = " "
	}
	return item
}
