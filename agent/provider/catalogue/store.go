package catalogue

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"time"

	"pi/agent/llm"
	"pi/internal/safefile"
)

// Catalogue is the list of models that is used: the program's own, or a newer one that a
// user fetched with pi models update, which is kept in a file. It is safe for concurrent
// use. The file is read when the first models are asked for, and not again.
type Catalogue struct {
	path string
	read func() (stored, error)
}

// FileName is the name of the file with a fetched list in the agent directory. The list that
// it replaced has ".before" behind it.
const FileName = "catalogue.json"

// stored is the form of the file: the records of models by provider, compiled by the
// program that fetched the list.
type stored struct {
	Version int               `json:"version"`
	Date    time.Time         `json:"date"`
	From    string            `json:"from"`
	Records map[string]string `json:"providers"`
}

const storedVersion = 1

// Open returns the catalogue of an agent directory. It reads nothing yet.
func Open(agentDir string) *Catalogue {
	c := &Catalogue{path: filepath.Join(agentDir, FileName)}
	c.read = sync.OnceValues(c.load)
	return c
}

// Models is [Models] with the list that is used.
func (c *Catalogue) Models(provider string) []*llm.Model {
	newer, _ := c.read()
	p, isOwn := Find(provider)
	if !isOwn {
		p = Provider{Name: provider}
	}
	if record, ok := newer.Records[p.Name]; ok {
		return p.routed(record)
	}
	return p.decodeAll(p.record())
}

// routed decodes the record of a fetched list, and says of each model where it is asked.
func (p *Provider) routed(record string) []*llm.Model {
	models := p.decodeAll(record)
	for _, m := range models { // whoever wrote the file
		m.API, m.BaseURL = p.API, p.BaseURL
	}
	for _, s := range sources() {
		if s.Name != p.Name || s.Route == nil {
			continue
		}
		for _, m := range models {
			api, base := s.Route(m.ID)
			m.API, m.BaseURL = cmp.Or(api, m.API), cmp.Or(base, m.BaseURL)
		}
	}
	return models
}

// Problem returns why a fetched list is not used though there is a file; nil if it is, or
// the program's own is newer.
func (c *Catalogue) Problem() error {
	_, err := c.read()
	return err
}

// Date is the day of the list that is used.
func (c *Catalogue) Date() time.Time {
	if newer, _ := c.read(); newer.Records != nil {
		return newer.Date
	}
	return ownDate()
}

func ownDate() time.Time {
	day, _ := time.Parse(time.DateOnly, listDate) // a constant, which a test reads
	return day
}

// load reads the file. There is nothing in what it returns if there is no file, or the
// program's own list is newer.
func (c *Catalogue) load() (stored, error) {
	data, err := safefile.Read(c.path, MaxList)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return stored{}, nil
	case err != nil:
		return stored{}, fmt.Errorf("the fetched list of models is not used: read %s: %w", FileName, err)
	}
	var s stored
	if err := json.Unmarshal(data, &s); err != nil || s.Version != storedVersion {
		return stored{}, fmt.Errorf("the fetched list of models is not used: %s is damaged, or of another version; pi models update fetches another", FileName)
	}
	if s.Date.Before(ownDate()) {
		return stored{}, nil
	}
	return s, nil
}

// Keep puts a list into the file, with mode 0600, and what was there into the file beside
// it. Runs that have begun go on with what they read.
func (c *Catalogue) Keep(u *Update) error {
	data, err := u.stored()
	if err != nil {
		return fmt.Errorf("keep the list of models: %w", err)
	}
	release, err := safefile.LockPath(c.path)
	if err != nil {
		return fmt.Errorf("keep the list of models: %w", err)
	}
	defer release()
	before, err := safefile.Read(c.path, MaxList)
	if err == nil {
		err = safefile.Replace(c.path+".before", before, true)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, safefile.ErrNotRegular) {
		err = safefile.Replace(c.path, data, true)
	}
	if err != nil {
		return fmt.Errorf("keep the list of models: %w", err)
	}
	return nil
}

// stored is the file for a list. It is an error if the file would not be used.
func (u *Update) stored() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(stored{Version: storedVersion, Date: u.Date, From: u.From, Records: u.records}); err != nil {
		return nil, err
	}
	switch {
	case u.Date.Before(ownDate()):
		return nil, fmt.Errorf("it is of %s by the clock of this machine, and that of the program of %s, which would be used", u.Date.Format(time.DateOnly), listDate)
	case b.Len() > MaxList:
		return nil, errors.New("it is too large to be read again")
	}
	return b.Bytes(), nil
}

// Reset puts the file aside, so that the program's own list is used. was is false if there
// was none.
func (c *Catalogue) Reset() (was bool, err error) {
	if _, err := os.Lstat(c.path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err := os.Rename(c.path, c.path+".before"); err != nil {
		return false, fmt.Errorf("put the fetched list of models aside: %w", err)
	}
	return true, nil
}

// Changes is what a list would change for one provider.
type Changes struct {
	Provider  string
	New, Gone []string // ids
	Dearer    []string // ids, with what is known of the price and of the new one
	Smaller   []string // ids, with window and answer as they are and as they were
	Other     bool     // something else is different
}

// Compare returns what an update would change, by provider in the order of the catalogue,
// without those of which nothing changes.
func (c *Catalogue) Compare(u *Update) (all []Changes) {
	names := slices.Sorted(maps.Keys(u.records))
	position := map[string]int{}
	for i := range table {
		position[table[i].Name] = i - len(table) // those that only the settings have come behind
	}
	slices.SortStableFunc(names, func(a, b string) int { return position[a] - position[b] })
	for _, name := range names {
		p := Provider{Name: name}
		if own, ours := Find(name); ours {
			p = own
		}
		before, after := c.Models(name), p.routed(u.records[name])
		changes := compare(name, before, after)
		changes.Other = !reflect.DeepEqual(before, after)
		if changes.Other {
			all = append(all, changes)
		}
	}
	return all
}

func compare(provider string, before, after []*llm.Model) Changes {
	changes := Changes{Provider: provider}
	known := map[string]*llm.Model{}
	for _, m := range before {
		known[m.ID] = m
	}
	for _, m := range after {
		old := known[m.ID]
		delete(known, m.ID)
		if old == nil {
			changes.New = append(changes.New, m.ID)
			continue
		}
		if isDearer(old.Cost, m.Cost) {
			changes.Dearer = append(changes.Dearer, fmt.Sprintf("%s (%s, was %s)", m.ID, priceText(m.Cost), priceText(old.Cost)))
		}
		if m.ContextWindow < old.ContextWindow || m.MaxTokens < old.MaxTokens {
			changes.Smaller = append(changes.Smaller, fmt.Sprintf("%s (%s, was %s)", m.ID, limitText(m), limitText(old)))
		}
	}
	for _, m := range before {
		if known[m.ID] != nil {
			changes.Gone = append(changes.Gone, m.ID)
		}
	}
	return changes
}

// isDearer reports whether a part of a price is higher for a prompt of some length, or is not
// known any more.
func isDearer(before, after *llm.Price) bool {
	if before == nil || after == nil {
		return before != nil
	}
	for _, part := range [][2]float64{{before.Input, after.Input}, {before.Output, after.Output}, {before.CacheRead, after.CacheRead}, {before.CacheWrite, after.CacheWrite}} {
		if part[0] >= 0 && (part[1] < 0 || part[1] > part[0]) {
			return true
		}
	}
	switch b, a := before.Above, after.Above; { // on to where the one or the other changes
	case b == nil && a == nil:
		return false
	case b == nil || a != nil && a.Tokens < b.Tokens:
		after = &a.Price
	case a == nil || b.Tokens < a.Tokens:
		before = &b.Price
	default:
		before, after = &b.Price, &a.Price
	}
	return isDearer(before, after)
}

// priceText is a price in dollars per million tokens, with what it is for longer prompts.
func priceText(p *llm.Price) string {
	if !p.Known() {
		return "unknown"
	}
	text := number(p.Input) + " / " + number(p.Output)
	if p.Above != nil {
		text += fmt.Sprintf(", above %d %s", p.Above.Tokens, priceText(&p.Above.Price))
	}
	return text
}

// limitText is the window and the longest answer of a model, in tokens.
func limitText(m *llm.Model) string { return fmt.Sprintf("%d / %d", m.ContextWindow, m.MaxTokens) }
