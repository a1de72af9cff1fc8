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

// countForeign returns how many bytes other programs have appended to the file since we
// last looked. The error is errGone, errTruncated or errRewritten if the file is no
// longer the one that we know; then nothing may be written to it.
func (st *store) countForeign() (int64, error) {
	here, err := st.f.Stat()
	if err != nil {
		return 0, err
	}
	there, err := os.Stat(st.path)
	if err != nil || !os.SameFile(here, there) {
		return 0, errGone
	}
	n := here.Size() - st.end.size
	if n < 0 {
		return 0, errTruncated
	}
	if n > 0 {
		tail := make([]byte, len(st.end.tail))
		if _, err := st.f.ReadAt(tail, st.end.size-int64(len(tail))); err != nil || !bytes.Equal(tail, st.end.tail) {
			return 0, errRewritten
		}
	}
	return n, nil
}

// readForeign reads the n bytes that other programs have appended, as countForeign
// counted them, and moves our end of the file behind them.
func (st *store) readForeign(n int64) ([]byte, error) {
	buf := make([]byte, n)
	got, err := st.f.ReadAt(buf, st.end.size)
	if err != nil && err != io.EOF {
		return nil, err
	}
	st.end.add(buf[:got])
	return buf[:got], nil
}

// write appends whole lines with one write and returns how many bytes of them
// are in the file for good, and what others wrote just before. After a short
// write the file is cut back to its last whole line, if nobody else wrote
// meanwhile.
func (st *store) write(lines []byte) (n int, foreign []byte, err error) {
	buf, lead := lines, st.end.lineBreak()
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
		if err == nil {
			err = io.ErrShortWrite
		}
		return max(st.cutShort(buf, n)-len(lead), 0), nil, err
	}
	foreign = st.readBetween(n)
	mixed := lead == "" && len(foreign) > 0 && foreign[len(foreign)-1] != '\n'
	st.end.add(foreign)
	st.end.add(buf)
	if mixed {
		return 0, foreign, errMixed
	}
	return len(lines), foreign, nil
}

// cutShort cuts the file back to its last whole line after a write that failed when n
// bytes of buf had arrived: only while we hold the lock, and nobody else wrote
// meanwhile. It returns how many bytes of buf are whole lines in the file.
func (st *store) cutShort(buf []byte, n int) int {
	whole := bytes.LastIndexByte(buf[:n], '\n') + 1
	info, err := st.f.Stat()
	if err == nil && st.locked && info.Size() == st.end.size+int64(n) &&
		(n == whole || st.f.Truncate(st.end.size+int64(whole)) == nil) {
		n = whole
	}
	st.end.add(buf[:n])
	return whole
}

// readBetween is called after an append of n bytes. It returns what other programs
// appended after we last looked and before those bytes; nil if nothing or on error.
func (st *store) readBetween(n int) []byte {
	end, err := st.f.Seek(0, io.SeekCurrent) // after an append that is the end of what it wrote
	gap := end - int64(n) - st.end.size
	if err != nil || gap <= 0 {
		return nil
	}
	buf := make([]byte, gap)
	got, _ := st.f.ReadAt(buf, st.end.size)
	return buf[:got]
}

// writeFile is f.Write, in whose place tests put one that fails.
func (st *store) writeFile(f *os.File, b []byte) (int, error) {
	if st.testOnlyWrite != nil {
		return st.testOnlyWrite(f, b)
	}
	return f.Write(b)
}

// sync brings the file to the disk if it was written to since the last sync, and then
// the folders in which new names were made. After an error it can be called again.
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
