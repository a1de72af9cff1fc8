package tool

import (
	"bytes"
	"encoding/binary"
)

// imageSize is the width and height that the head of a PNG, JPEG or GIF states;
// zeros where there are none. The decoders of the standard library say the same,
// but the registry that leads to them brings all of each decoder along.
func imageSize(data []byte, mime string) (width, height int) {
	switch {
	case mime == "image/png" && len(data) >= 24 && string(data[12:16]) == "IHDR": // the chunk behind the eight bytes of the magic
		return int(binary.BigEndian.Uint32(data[16:])), int(binary.BigEndian.Uint32(data[20:]))
	case mime == "image/gif" && len(data) >= 10:
		return int(binary.LittleEndian.Uint16(data[6:])), int(binary.LittleEndian.Uint16(data[8:]))
	case mime == "image/jpeg":
		return jpegSize(data)
	}
	return 0, 0
}

// jpegSize walks from segment to segment to the frame header. Before the length of a
// segment are 0xFF, as often as the writer liked, and its marker.
func jpegSize(data []byte) (width, height int) {
	for rest := data[min(2, len(data)):]; ; {
		rest = rest[max(0, bytes.IndexByte(rest, 0xFF)):]
		for len(rest) > 1 && rest[0] == 0xFF && rest[1] == 0xFF {
			rest = rest[1:]
		}
		if len(rest) < 9 || rest[0] != 0xFF {
			return 0, 0
		}
		marker, length := rest[1], int(binary.BigEndian.Uint16(rest[2:]))
		switch {
		// A frame header: C0 to CF but for the tables of DHT and DAC and the reserved JPG.
		case marker&0xF0 == 0xC0 && marker != 0xC4 && marker != 0xC8 && marker != 0xCC:
			return int(binary.BigEndian.Uint16(rest[7:])), int(binary.BigEndian.Uint16(rest[5:]))
		// Without a segment: the zero of a stuffed 0xFF, TEM, the restarts and the beginning.
		case marker <= 0x01 || marker >= 0xD0 && marker <= 0xD8:
			rest = rest[2:]
		case marker == 0xD9 || marker == 0xDA: // the end, or the picture itself
			return 0, 0
		default:
			rest = rest[min(2+length, len(rest)):]
		}
	}
}
