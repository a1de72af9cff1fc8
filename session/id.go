package session

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"time"
)

const isoMillis = "2006-01-02T15:04:05.000Z"

func isoTime(t time.Time) string { return t.UTC().Format(isoMillis) }

// newUUID is a UUID of version 7: 48 bits of milliseconds, then chance.
func newUUID(t time.Time) string {
	var b [16]byte
	rand.Read(b[:])
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(t.UnixMilli()))
	copy(b[:6], ms[2:])
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// newEntryID is 8 hex digits that the session does not have yet.
func newEntryID(taken map[string]*Entry) string {
	for {
		var b [4]byte
		rand.Read(b[:])
		id := hex.EncodeToString(b[:])
		if taken[id] == nil {
			return id
		}
	}
}
