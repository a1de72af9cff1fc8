package tool

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	"pi/internal/printable"
)

// seen remembers how files were when the model last read, wrote or edited them, for
// each session of the program. A file that is not in it is none that changed: the
// model never had a wrong idea of it.
type seen struct {
	mu    sync.Mutex
	files map[string]state  // by session and real path
	links map[string]string // real paths, by session and the path by which a file was named
}

// state is a file at one time. A modified that is zero is not compared: the time of
// the tool's own write is not known, for another write may have followed at once.
type state struct {
	size     int64
	modified time.Time
	sum      [sha256.Size]byte
}

// note remembers the state s in which the model knows a file, and where its path led: a
// link may lead to another file later. Both hold for the current session only.
func (k *kit) note(p place, s state) {
	k.seen.mu.Lock()
	defer k.seen.mu.Unlock()
	k.seen.files[k.inSession(p.real)], k.seen.links[k.inSession(p.path)] = s, p.real
}

// inSession is the key of a path in the maps of seen, which serve all sessions: the id
// of the current session and the path.
func (k *kit) inSession(path string) string {
	if k.Session == nil {
		return path
	}
	return k.Session() + "\x00" + path
}

// known returns the state in which the model knows a file. real is where its path led
// then; "" if the model never used that path.
func (k *kit) known(p place) (s state, known bool, real string) {
	k.seen.mu.Lock()
	defer k.seen.mu.Unlock()
	s, known = k.seen.files[k.inSession(p.real)]
	return s, known, k.seen.links[k.inSession(p.path)]
}

// checkUnchanged is an error if the file at p, which is there, is not as the model knows
// it. The caller has the lock of the file.
func (k *kit) checkUnchanged(ctx context.Context, p place, now fs.FileInfo) error {
	was, known, real := k.known(p)
	switch {
	case real != "" && real != p.real:
		return k.otherFile(p)
	case !known || was.size == now.Size() && was.modified.Equal(now.ModTime()):
		return nil
	case was.size == now.Size():
		sum, err := p.sum(ctx, now.Size())
		if err != nil {
			return err
		}
		if sum == was.sum {
			k.note(p, state{now.Size(), now.ModTime(), sum})
			return nil
		}
	}
	return fmt.Errorf("it has changed since you last read, wrote or edited it (%s, now %s); %s",
		now.ModTime().Format("15:04:05"), printable.Count(int(now.Size()), "byte"), readAgain)
}

// checkTextUnchanged is checkUnchanged for a file whose text is now that of the front end. Only
// its hash tells whether it has changed.
func (k *kit) checkTextUnchanged(p place, text []byte) error {
	was, known, real := k.known(p)
	switch {
	case real != "" && real != p.real:
		return k.otherFile(p)
	case known && was.sum != sha256.Sum256(text):
		return fmt.Errorf("it has changed since you last read, wrote or edited it (now %s); %s", printable.Count(len(text), "byte"), readAgain)
	}
	return nil
}

// otherFile is the error for a path that leads to p now, and led elsewhere when the model
// used it last.
func (k *kit) otherFile(p place) error {
	return fmt.Errorf("it leads to another file than when you last read, wrote or edited it (%s); %s", k.display(p.real), readAgain)
}

const readAgain = "nothing was written. Use read to see what is there now, then write what it should be, or use edit"

// sum is the hash of a file that should have this size. If it has another, the hash is
// zero, which no file has.
func (p place) sum(ctx context.Context, size int64) (sum [sha256.Size]byte, err error) {
	f, err := p.open()
	if err != nil {
		return sum, plain(err)
	}
	defer f.Close()
	h := sha256.New()
	if n, err := io.Copy(h, io.LimitReader(&ctxReader{ctx, f}, size+1)); err != nil || n != size {
		return sum, plain(err) // a file of another size has another hash
	}
	copy(sum[:], h.Sum(nil))
	return sum, nil
}
