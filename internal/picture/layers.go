package picture

import (
	"bytes"
	"encoding/binary"
	"iter"
)

// A JPEG may be in layers (scans), each of which may cost the time of the whole and few bytes;
// a camera or a program makes about ten. Behind the picture there may be anything: phones put
// a film there.

const mostScans = 100

// Markers of the segments of a JPEG.
const (
	startOfScan     = 0xDA
	endOfImage      = 0xD9
	progressiveHead = 0xC2
)

func isJPEG(data []byte) bool { return bytes.HasPrefix(data, []byte("\xFF\xD8")) }

// scans counts the layers of a JPEG.
func scans(data []byte) (n int) {
	for marker := range segments(data) {
		if marker == startOfScan {
			n++
		}
	}
	return n
}

// isLayered reports whether a JPEG says that it is in layers.
func isLayered(data []byte) bool {
	for marker := range segments(data) {
		switch marker {
		case progressiveHead:
			return true
		case startOfScan:
			return false
		}
	}
	return false
}

// segments yields the marker of each segment of a JPEG with what is in it, up to the end of the
// picture. The data of a layer, which follow its segment, are passed over.
func segments(data []byte) iter.Seq2[byte, []byte] {
	return func(yield func(byte, []byte) bool) {
		const restarts, start = 0xD0, 0xD8 // markers from the one to the other, and 01, have no segment
		for rest := data[min(2, len(data)):]; ; {
			at := bytes.IndexByte(rest, 0xFF)
			if at < 0 || at+4 > len(rest) {
				return
			}
			rest = rest[at:]
			switch marker := rest[1]; {
			case marker == 0xFF: // a writer may put more of them before a marker
				rest = rest[1:]
			case marker == 0 || marker == 1 || marker >= restarts && marker <= start:
				rest = rest[2:]
			case marker == endOfImage:
				return
			default:
				length := 2 + int(binary.BigEndian.Uint16(rest[2:]))
				if length < 4 || length > len(rest) || !yield(marker, rest[4:length]) {
					return
				}
				rest = rest[length:]
			}
		}
	}
}
