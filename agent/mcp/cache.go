package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"pi/internal/safefile"
)

// What servers had last is kept in files, cache/mcp/HASH.json in the agent directory, one for
// each server: so what is told of them costs no start of theirs. HASH.words has the words of
// that for searches. The rows of all of them are in an index, which is all that is read at the
// start of a session. A row has the hashes of the files, so who is sure of the index (see
// [Options.ChangeIndex]) is sure of all: a file that is not what was written counts for nothing.

const (
	indexName   = "index.json"
	maxIndex    = 1 << 20
	maxRows     = 1000
	maxCached   = 2 * maxDefinitions // with its escapes
	cacheFormat = 2                  // 1 had no hashes

	seenAgain = 24 * time.Hour // after which it is noted that a server is still in use
)

// row is what the index has of a server.
type row struct {
	Description string // as it says of itself
	Tools       int
	Resources   int
	Prompts     int
	Protocol    string
	Seen        int64  // when it was listed last, in seconds, as far as that matters
	Sum         string // SHA-256 of the file; "": there is none
	Words       string // that of the file with its words; it is used only with these
}

// cache is where definitions are kept; without a folder, nowhere. All methods may be called
// from any goroutine.
type cache struct {
	dir string

	// See [Options].
	readIndex   func(path string) []byte
	changeIndex func(path string, change func(old []byte) ([]byte, error)) error

	mu   sync.Mutex // guards what follows
	rows map[string]row
}

// cacheIndex and cached are the files.
type cacheIndex struct {
	Format int
	Rows   map[string]row
}

type cached struct {
	Format      int
	Definitions *definitions
}

// row returns what the index has of a server, and whether it has it. The index is read at the
// first call; one that cannot be read is none.
func (c *cache) row(hash string) (row, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rows == nil {
		c.rows = c.index()
	}
	r, ok := c.rows[hash]
	return r, ok
}

// index reads the index.
func (c *cache) index() map[string]row {
	switch {
	case c.dir == "":
		return map[string]row{}
	case c.readIndex != nil:
		return parseIndex(c.readIndex(c.indexPath()))
	}
	b, _ := readIndexFile(c.indexPath()) // what cannot be read is none
	return parseIndex(b)
}

func readIndexFile(path string) ([]byte, error) { return safefile.Read(path, maxIndex) }

// parseIndex reads the index; what is none is an empty one.
func parseIndex(b []byte) map[string]row {
	var is cacheIndex
	if json.Unmarshal(b, &is) != nil || is.Format != cacheFormat || is.Rows == nil {
		return map[string]row{}
	}
	for hash, r := range is.Rows {
		r.Description = cleanText(r.Description, 200)
		is.Rows[hash] = r
	}
	return is.Rows
}

func (c *cache) path(hash string) string { return filepath.Join(c.dir, hash+".json") }

func (c *cache) indexPath() string { return filepath.Join(c.dir, indexName) }

// load reads what is known of a server; nil if that is nothing. isLost says that something was,
// and is not there as it was written.
func (c *cache) load(hash string) (d *definitions, isLost bool) {
	r, ok := c.row(hash)
	if !ok || r.Sum == "" || c.dir == "" {
		return nil, false
	}
	b, err := safefile.Read(c.path(hash), maxCached)
	if err != nil || sumOf(b) != r.Sum {
		now, ok := c.index()[hash] // another program may just have written both, or dropped the row
		if !ok {
			return nil, false
		}
		if b, err = safefile.Read(c.path(hash), maxCached); err != nil || sumOf(b) != now.Sum {
			return nil, true
		}
	}
	is := cached{}
	if json.Unmarshal(b, &is) != nil || is.Format != cacheFormat || is.Definitions == nil {
		return nil, true
	}
	return is.Definitions, false
}

func (c *cache) wordsPath(hash string) string { return filepath.Join(c.dir, hash+".words") }

// loadIndex reads the index for searches in a server; nil if there is none that belongs to its
// row.
func (c *cache) loadIndex(hash string) searchIndex {
	r, known := c.row(hash)
	if !known || r.Words == "" || c.dir == "" {
		return nil
	}
	b, err := safefile.Read(c.wordsPath(hash), maxCached)
	if err != nil || sumOf(b) != r.Words {
		return nil
	}
	x, _ := parseSearchIndex(string(b))
	return x
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// keep writes what is known of a server, and its row, unless they stand there as they are. What
// cannot be kept is asked for again.
func (c *cache) keep(hash string, d *definitions) error {
	words := newSearchIndex(d).encode()
	r := row{Description: d.description(), Tools: len(d.Tools), Resources: len(d.Resources), Prompts: len(d.Prompts), Protocol: d.Protocol, Seen: time.Now().Unix()}
	was, _ := c.row(hash)
	if c.dir == "" {
		c.set(hash, r)
		return nil
	}
	b, err := encode(cached{cacheFormat, d})
	if err != nil {
		return err
	}
	sum := sumOf(b)
	if was.Sum == sum && was.Words != "" && r.Seen-was.Seen < int64(seenAgain.Seconds()) && c.isWritten(hash, int64(len(b))) {
		return nil
	}
	c.set(hash, r) // without a file, until there is one
	if _, err := safefile.MakeDirs(c.dir); err != nil {
		return err
	}
	r.Sum, r.Words = sum, sumOf(words)
	err = c.change(func(old []byte) ([]byte, error) {
		if err := errors.Join(safefile.Replace(c.path(hash), b, false), safefile.Replace(c.wordsPath(hash), words, false)); err != nil {
			return nil, err
		}
		rows := parseIndex(old)
		rows[hash] = r
		for len(rows) > maxRows {
			c.removeFiles(dropOldest(rows))
		}
		return encode(cacheIndex{cacheFormat, rows})
	})
	if err != nil {
		return fmt.Errorf("keep what a server has: %w", err)
	}
	c.set(hash, r)
	return nil
}

// set notes the row of a server here.
func (c *cache) set(hash string, r row) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows[hash] = r // [cache.row] was called
}

// isWritten reports whether there is a file of that size.
func (c *cache) isWritten(hash string, size int64) bool {
	info, err := os.Lstat(c.path(hash))
	return err == nil && info.Mode().IsRegular() && info.Size() == size
}

// change changes the index.
func (c *cache) change(change func(old []byte) ([]byte, error)) error {
	if c.changeIndex != nil {
		return c.changeIndex(c.indexPath(), change)
	}
	return safefile.Change(c.indexPath(), readIndexFile, change)
}

// removeFiles removes the files of a server whose row is dropped. One that stays costs room only.
func (c *cache) removeFiles(hash string) {
	if isHash(hash) {
		_ = os.Remove(c.path(hash))
		_ = os.Remove(c.wordsPath(hash))
	}
}

// isHash reports whether a key of the index is one that was made here: it becomes the name of a file.
func isHash(key string) bool {
	_, err := hex.DecodeString(key)
	return err == nil && key != ""
}

// dropOldest drops the row of the server that was not seen for the longest time, and returns its hash.
func dropOldest(rows map[string]row) (oldest string) {
	for hash, r := range rows {
		if oldest == "" || r.Seen < rows[oldest].Seen {
			oldest = hash
		}
	}
	delete(rows, oldest)
	return oldest
}
