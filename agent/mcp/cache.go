package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"pi/internal/safefile"
)

// What servers had last is kept in files, cache/mcp/HASH.json in the agent directory, one for
// each server: so what is told of them costs no start of theirs. HASH.words has the words of
// that for searches. The rows of all of them are in an index, which is all that is read at the
// start of a session.

const (
	indexName   = "index.json"
	maxIndex    = 1 << 20
	maxRows     = 1000
	maxCached   = 2 * maxDefinitions // with its escapes
	cacheFormat = 1
)

// row is what the index has of a server.
type row struct {
	Description string // as it says of itself
	Tools       int
	Resources   int
	Prompts     int
	Protocol    string
	Seen        int64  // when it was listed last, in seconds
	Words       string // hash of the file with its words; it is used only with these
}

// cache is where definitions are kept; without a folder, nowhere. All methods may be called
// from any goroutine.
type cache struct {
	dir string

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
		c.rows = map[string]row{}
		if c.dir != "" {
			if b, err := safefile.Read(filepath.Join(c.dir, indexName), maxIndex); err == nil {
				c.rows = parseIndex(b)
			}
		}
	}
	r, ok := c.rows[hash]
	return r, ok
}

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

// load reads what is known of a server; nil if that is nothing.
func (c *cache) load(hash string) *definitions {
	if c.dir == "" {
		return nil
	}
	b, err := safefile.Read(c.path(hash), maxCached)
	if err != nil {
		return nil
	}
	is := cached{}
	if json.Unmarshal(b, &is) != nil || is.Format != cacheFormat {
		return nil
	}
	return is.Definitions
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

// sumOf is the hash of bytes as a row has it.
func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// keep writes what is known of a server, and its row. What cannot be kept is asked for again.
func (c *cache) keep(hash string, d *definitions) error {
	words := newSearchIndex(d).encode()
	r := row{Description: d.description(), Tools: len(d.Tools), Resources: len(d.Resources), Prompts: len(d.Prompts), Protocol: d.Protocol, Seen: time.Now().Unix(), Words: sumOf(words)}
	c.row(hash) // reads the index
	c.mu.Lock()
	c.rows[hash] = r
	c.mu.Unlock()
	if c.dir == "" {
		return nil
	}
	b, err := encode(cached{cacheFormat, d})
	if err != nil {
		return err
	}
	if _, err := safefile.MakeDirs(c.dir); err != nil {
		return err
	}
	err = errors.Join(safefile.Replace(c.path(hash), b, false), safefile.Replace(c.wordsPath(hash), words, false))
	if err != nil {
		return fmt.Errorf("keep what a server has: %w", err)
	}
	read := func(path string) ([]byte, error) { return safefile.Read(path, maxIndex) }
	return safefile.Change(filepath.Join(c.dir, indexName), read, func(old []byte) ([]byte, error) {
		rows := parseIndex(old)
		rows[hash] = r
		for len(rows) > maxRows {
			dropOldest(rows)
		}
		return encode(cacheIndex{cacheFormat, rows})
	})
}

// dropOldest drops the row of the server that was not seen for the longest time.
func dropOldest(rows map[string]row) {
	oldest := ""
	for hash, r := range rows {
		if oldest == "" || r.Seen < rows[oldest].Seen {
			oldest = hash
		}
	}
	delete(rows, oldest)
}
