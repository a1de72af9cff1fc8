// Package completion finds what the word before the cursor can become: the name of a
// command or an argument of one, a path behind @, a program or a path behind !, and what
// hooks offer behind a character of their own. It shows nothing and knows no terminal.
//
//	c := completion.Completer{Commands: set.All, Files: completion.NewFiles(cwd), …}
//	r := c.Complete(ctx, text, cursor)     what the word can become, the best first
//	r.Only()                               the one thing, if there is no other
//	r.Apply(text, item)                    the text with it, and where the cursor is then
//
// Matching is by [fuzzy.Index]: the typed characters stay, in their order, in whatever
// replaces them. That holds for everybody's candidates, since they are filtered here; a
// hook that ignores what was typed loses nothing.
//
// A [Completer] may be asked by several goroutines at a time, if its functions may be.
// [Runner] asks it in the background, where the newest question counts.
package completion

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"pi/agent/command"
	"pi/internal/fuzzy"
)

// most is how many items a result has at most.
const most = 100

// Item is one thing that a word can become.
type Item struct {
	Value       string // what replaces the word
	Label       string // what is shown; "" is Value
	Description string
	Append      string // what is put behind Value: a blank, or nothing where more of the word follows
}

// Text is what is shown of an item.
func (i Item) Text() string {
	if i.Label != "" {
		return i.Label
	}
	return i.Value
}

// Result is what a part of a text can become.
type Result struct {
	Start, End int    // that part, in bytes
	Typed      string // what of it is matched with the labels
	Items      []Item // the best first
}

// Only returns the item of a result that has no other.
func (r Result) Only() (Item, bool) {
	if len(r.Items) != 1 {
		return Item{}, false
	}
	return r.Items[0], true
}

// Apply puts an item into the text that the result is for, and returns where the cursor is
// then. A blank is not put before another one.
func (r Result) Apply(text string, item Item) (applied string, cursor int) {
	insert, rest := item.Value+item.Append, text[r.End:]
	if strings.HasSuffix(insert, " ") && strings.HasPrefix(rest, " ") {
		rest = rest[1:]
	}
	return text[:r.Start] + insert + rest, r.Start + len(insert)
}

// Completer knows where candidates come from. Whatever is nil offers none.
type Completer struct {
	Commands func() []command.Command // all that there are now
	Files    *Files                   // of the project, for @ and !
	Programs *Programs                // for the first word behind !
	Sources  func() []Source          // of hooks
	Cwd      string                   // absolute; relative paths begin there
	Home     string                   // what ~ is
}

// Complete returns what the word before the cursor, a position in bytes, can become. It
// takes as long as the slowest of what it asks, sources no longer than their limit. Without
// a word, or anything that it can become, the result has no items.
func (c *Completer) Complete(ctx context.Context, text string, cursor int) Result {
	before := text[:max(0, min(cursor, len(text)))]
	if shell, ok := strings.CutPrefix(before, "!"); ok {
		return c.shell(ctx, before, len(before)-len(strings.TrimPrefix(shell, "!")))
	}
	sourced := c.sourced(ctx, before)
	r, ok := c.mention(ctx, before)
	switch {
	case !ok && len(sourced.Items) > 0:
		return c.amongCommands(before, sourced)
	case !ok:
		return c.command(before)
	case r.Start == sourced.Start:
		r.Items = uniqueItems(append(r.Items, sourced.Items...))
	}
	return r
}

// amongCommands is what sources offer for a word, and where that is the name of a command what
// there is of these behind it.
func (c *Completer) amongCommands(before string, sourced Result) Result {
	if sourced.Start > 0 || !strings.HasPrefix(before, "/") {
		return sourced
	}
	names := c.command(before)
	names.Items = uniqueItems(append(sourced.Items, names.Items...))
	if names.End == 0 {
		return sourced
	}
	return names
}

// isBlank reports whether a character parts words. An object in the place of a text, such
// as a paste, does.
func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\ufffc' }

// lastWord returns where the last word of a text begins, which may be its end.
func lastWord(text string) int {
	return len(text) - len(text[strings.LastIndexFunc(text, isBlank)+1:])
}

// rank orders items by how their values, without a prefix that all have, match what was
// typed, and drops those that do not.
func rank(items []Item, prefix, typed string) []Item {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = strings.TrimPrefix(item.Value, prefix)
	}
	var ranked []Item
	for _, i := range fuzzy.NewIndex(texts).Best(typed, most) {
		ranked = append(ranked, items[i])
	}
	return ranked
}

// Runner asks a [Completer] in the background, so that nobody who types waits for a hook or
// a disk. Only the newest question counts. Its methods may be called by any goroutine, but
// not by the function that it delivers to.
type Runner struct {
	completer *Completer
	deliver   func(Result)

	wg     sync.WaitGroup
	mu     sync.Mutex
	number int // of the newest question
	cancel context.CancelFunc
	closed bool
}

// NewRunner returns a runner. It calls deliver, in a goroutine of its own, with a result
// that was not ready when it was asked for, unless something else was asked meanwhile.
func NewRunner(c *Completer, deliver func(Result)) *Runner {
	return &Runner{completer: c, deliver: deliver, cancel: func() {}}
}

// Ask asks for what the word before the cursor can become. If that is known within the
// patience it is returned, and ready is true; else it is delivered later.
func (r *Runner) Ask(text string, cursor int, patience time.Duration) (result Result, ready bool) {
	ctx, number, ok := r.begin()
	if !ok {
		return Result{}, true
	}
	done := make(chan Result, 1)
	taken := make(chan bool, 1)
	r.wg.Go(func() {
		done <- r.completer.Complete(ctx, text, cursor)
		if early := <-taken; early {
			return
		}
		r.mu.Lock()
		newest := number == r.number && !r.closed
		r.mu.Unlock()
		if newest { // nothing else was asked meanwhile
			r.deliver(<-done)
		}
	})
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case result = <-done:
		taken <- true
		return result, true
	case <-timer.C:
		taken <- false
		return Result{}, false
	}
}

// begin cancels the question before and numbers a new one. It reports false after Close.
func (r *Runner) begin() (ctx context.Context, number int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancel()
	if r.closed {
		return nil, 0, false
	}
	ctx, r.cancel = context.WithCancel(context.Background())
	r.number++
	return ctx, r.number, true
}

// Forget has the newest question not answered any more: the user went on.
func (r *Runner) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancel()
	r.number++
}

// Close ends all questions and waits for that.
func (r *Runner) Close() {
	r.mu.Lock()
	r.closed = true
	r.cancel()
	r.mu.Unlock()
	r.wg.Wait()
}

// command completes the name of a command or an argument of one.
func (c *Completer) command(before string) Result {
	if !strings.HasPrefix(before, "/") || c.Commands == nil {
		return Result{}
	}
	end := strings.IndexFunc(before, isBlank)
	if end < 0 {
		return c.commandNames(before)
	}
	for _, known := range c.Commands() {
		if known.Name == before[1:end] || slices.Contains(known.Aliases, before[1:end]) {
			return arguments(known, before, end)
		}
	}
	return Result{}
}

// commandNames completes a name, or an alias if it was begun. What has a second slash or a
// dot is a path, and no command.
func (c *Completer) commandNames(before string) Result {
	typed := before[1:]
	if strings.ContainsAny(typed, "/.") {
		return Result{}
	}
	var items, aliases []Item
	for _, known := range c.Commands() {
		items = append(items, Item{Value: "/" + known.Name, Description: known.Help, Append: " "})
		for _, alias := range known.Aliases {
			if typed != "" && strings.HasPrefix(alias, strings.ToLower(typed)) {
				aliases = append(aliases, Item{Value: "/" + alias, Description: "/" + known.Name + ": " + known.Help, Append: " "})
			}
		}
	}
	return Result{Start: 0, End: len(before), Typed: before, Items: rank(append(items, aliases...), "/", typed)}
}

// arguments completes an argument. A candidate may replace all arguments or the last word
// of them. The command is also asked for what the last word can be at all, since it may
// know only beginnings, and what is typed may be from the middle.
func arguments(known command.Command, before string, end int) Result {
	if known.Complete == nil {
		return Result{}
	}
	start := end + len(before[end:]) - len(strings.TrimLeftFunc(before[end:], isBlank))
	args := before[start:]
	last := lastWord(args)
	candidates := known.Complete(args)
	if head := args[:last]; head != args {
		candidates = append(slices.Clone(candidates), known.Complete(head)...)
	}
	var whole, word []Item
	seen := map[string]bool{}
	for _, candidate := range candidates {
		if candidate == "" || seen[candidate] {
			continue
		}
		seen[candidate] = true
		whole = append(whole, argument(candidate))
		if last > 0 {
			word = append(word, argument(candidate))
		}
	}
	items := rank(whole, "", args)
	for _, item := range rank(word, "", args[last:]) {
		if !slices.Contains(items, item) {
			item.Value, item.Label = args[:last]+item.Value, item.Text()
			items = append(items, item)
		}
	}
	items = uniqueItems(items)
	for i, item := range items {
		if known.Describe != nil {
			items[i].Description = known.Describe(item.Text())
		}
	}
	return Result{Start: start, End: len(before), Typed: args[last:], Items: items}
}

// argument is the item of a candidate. One that ends in a blank, a slash or an equals sign says
// itself what follows.
func argument(candidate string) Item {
	if candidate != "" && strings.ContainsRune(" /=", rune(candidate[len(candidate)-1])) {
		return Item{Value: candidate, Label: strings.TrimRight(candidate, " ")}
	}
	return Item{Value: candidate, Append: " "}
}

// uniqueItems drops items with a value that one before them has, and those beyond the most
// there may be.
func uniqueItems(items []Item) []Item {
	seen := map[string]bool{}
	unique := items[:0]
	for _, item := range items {
		if !seen[item.Value] {
			seen[item.Value] = true
			unique = append(unique, item)
		}
	}
	return unique[:min(len(unique), most)]
}

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
