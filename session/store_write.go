package session

import (
	"bytes"
	"io"
	"os"

	"pi/internal/safefile"
)

// Other programs may append to the file without asking for the lock. So the
// size of the file is looked at before each write, and its offset after it: what
// they wrote in between stands before our lines.

// tailSize is how much of the end of the file is remembered, to tell a file that
// grew from one that was written anew.
const tailSize = 64

// check compares the file with what we know of it. It returns how many bytes
// somebody else has added.
func (st *store) check() (foreign int64, err error) {
	here, err := st.f.Stat()
	if err != nil {
		return 0, err
	}
	there, err := os.Stat(st.path)
	if err != nil || !os.SameFile(here, there) {
		return 0, errGone
	}
	foreign = here.Size() - st.size
	if foreign < 0 {
		return 0, errTruncated
	}
	if foreign > 0 && !st.tailStands() {
		return 0, errRewritten
	}
	return foreign, nil
}

// tailStands reports whether the last bytes that we know are where they were.
func (st *store) tailStands() bool {
	now := make([]byte, len(st.tail))
	_, err := st.f.ReadAt(now, st.size-int64(len(now)))
	return err == nil && bytes.Equal(now, st.tail)
}

// readForeign returns what others added and counts it as known.
func (st *store) readForeign(n int64) ([]byte, error) {
	buf := make([]byte, n)
	got, err := st.f.ReadAt(buf, st.size)
	if err != nil && err != io.EOF {
		return nil, err
	}
	st.grew(buf[:got])
	return buf[:got], nil
}

// grew counts bytes at the end of the file as known.
func (st *store) grew(b []byte) {
	if len(b) == 0 {
		return
	}
	st.size += int64(len(b))
	st.torn, st.seemsWhole = b[len(b)-1] != '\n', false
	if len(b) > tailSize {
		b = b[len(b)-tailSize:]
	}
	st.tail = append(st.tail, b...)
	st.tail = st.tail[max(len(st.tail)-tailSize, 0):]
}

// write appends whole lines with one write and returns how many bytes of them
// are in the file for good, and what others wrote just before. After a short
// write the file is cut back to its last whole line, if nobody else wrote
// meanwhile.
func (st *store) write(lines []byte) (n int, foreign []byte, err error) {
	buf, lead := lines, st.lead()
	if lead != "" {
		buf = append([]byte(lead), lines...)
	}
	st.step("before the write")
	n, err = st.writeFile(st.f, buf)
	st.step("written")
	if n > 0 {
		st.dirty = true
	}
	if n < len(buf) || err != nil {
		n, err = st.cutShort(buf, n, err)
		return max(n-len(lead), 0), nil, err
	}
	foreign = st.between(n)
	mixed := lead == "" && len(foreign) > 0 && foreign[len(foreign)-1] != '\n'
	st.grew(foreign)
	st.grew(buf)
	if mixed {
		return 0, foreign, errMixed
	}
	return len(lines), foreign, nil
}

// lead ends a line that was cut off. One that ends in a brace by chance would
// look whole with lines after it, when only its head is read: it gets a comma.
func (st *store) lead() string {
	switch {
	case st.seemsWhole:
		return ",\n"
	case st.torn:
		return "\n"
	}
	return ""
}

// cutShort leaves of a write that failed after n bytes the whole lines.
func (st *store) cutShort(buf []byte, n int, err error) (int, error) {
	if err == nil {
		err = io.ErrShortWrite
	}
	whole := bytes.LastIndexByte(buf[:n], '\n') + 1
	if st.cutBack(st.size+int64(n), st.size+int64(whole)) {
		n = whole
	}
	st.grew(buf[:n])
	return whole, err
}

func (st *store) cutBack(from, to int64) bool {
	info, err := st.f.Stat()
	if err != nil || !st.locked || info.Size() != from {
		return false
	}
	return from == to || st.f.Truncate(to) == nil
}

// between returns what stands between the end as we knew it and the n bytes
// that were just written.
func (st *store) between(n int) []byte {
	end, err := st.f.Seek(0, io.SeekCurrent) // after an append that is the end of what it wrote
	gap := end - int64(n) - st.size
	if err != nil || gap <= 0 {
		return nil
	}
	buf := make([]byte, gap)
	got, _ := st.f.ReadAt(buf, st.size)
	return buf[:got]
}

func (st *store) writeFile(f *os.File, b []byte) (int, error) {
	if st.testOnlyWrite != nil {
		return st.testOnlyWrite(f, b)
	}
	return f.Write(b)
}

// sync brings the file to the disk, and the folders in which it was made.
func (st *store) sync() error {
	if st.f == nil || !st.dirty {
		return nil
	}
	doSync := st.testOnlySync
	if doSync == nil {
		doSync = (*os.File).Sync
	}
	if err := doSync(st.f); err != nil {
		return err
	}
	st.dirty = false
	for len(st.folders) > 0 {
		last := len(st.folders) - 1
		if err := safefile.SyncDir(st.folders[last]); err != nil {
			return err
		}
		st.folders = st.folders[:last]
	}
	return nil
}
