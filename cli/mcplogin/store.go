package mcplogin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"pi/agent/mcp"
	"pi/internal/safefile"
)

// login is what is kept of one server.
type login struct {
	Issuer       string          `json:"issuer"`
	TokenURL     string          `json:"token_url"` // where the token came from, and is renewed
	ClientID     string          `json:"client_id"`
	ClientSecret string          `json:"client_secret,omitempty"`
	AuthStyle    int             `json:"auth_style,omitempty"` // as golang.org/x/oauth2 has it
	Registration json.RawMessage `json:"registration,omitempty"`
	Redirect     string          `json:"redirect"` // as it is registered
	Scopes       []string        `json:"scopes,omitempty"`
	Resource     string          `json:"resource,omitempty"`

	Access   string `json:"access"`
	Refresh  string `json:"refresh,omitempty"`
	Expires  int64  `json:"expires,omitempty"`  // milliseconds since 1970; 0: never, as far as is known
	Obtained int64  `json:"obtained,omitempty"` // likewise
}

func (l login) expiry() time.Time { return time.UnixMilli(l.Expires) }

// due reports whether the token is to be renewed: five minutes before its end, or after four
// fifths of a short life.
func (l login) due(now time.Time) bool {
	if l.Expires == 0 {
		return false
	}
	early := min(5*time.Minute, l.expiry().Sub(time.UnixMilli(l.Obtained))/5)
	return !now.Before(l.expiry().Add(-early))
}

// isOver reports whether the token does not hold any more.
func (l login) isOver(now time.Time) bool { return l.Expires != 0 && !now.Before(l.expiry()) }

// store is the file of logins. It is read at each look, for others write it too.
type store struct{ path string }

// maxStore is far above what hundreds of servers need.
const maxStore = 1 << 20

// read returns all logins; none if there is no file. The error does not repeat what is in it.
func (s store) read() (map[string]login, error) {
	all := map[string]login{}
	data, err := safefile.Read(s.path, maxStore)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return all, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", FileName, err)
	case json.Unmarshal(data, &all) != nil:
		return nil, fmt.Errorf("read %s: it is not what pi wrote; remove %s, and sign in again", FileName, s.path)
	}
	return all, nil
}

// find returns the login of a server.
func (s store) find(e mcp.Entry) (have login, found bool, err error) {
	all, err := s.read()
	if err != nil {
		return login{}, false, err
	}
	have, found = all[keyOf(e)]
	return have, found && have.Access != "", nil
}

// change edits the logins. Nobody else reads and writes them between; an error of edit writes
// nothing.
func (s store) change(edit func(all map[string]login) error) error {
	release, err := safefile.LockPath(s.path)
	if err != nil {
		return fmt.Errorf("write %s: %w", FileName, err)
	}
	defer release()
	all, err := s.read()
	if err != nil {
		return err
	}
	before, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = edit(all)
	}
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(all, "", "  ")
	if err == nil && !bytes.Equal(data, before) {
		err = safefile.Replace(s.path, append(data, '\n'), true)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", FileName, err)
	}
	return nil
}
