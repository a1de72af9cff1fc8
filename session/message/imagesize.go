package message

import (
	"bytes"
	"encoding/binary"
)

// ImageSize is the width and height that the head of an image states; zeros where there
// are none, or where the image is of no type that [ImageType] knows. The decoders of the
// standard library say the same, but the registry that leads to them brings all of each
// decoder along.
func ImageSize(data []byte) (width, height int) {
	switch mime := ImageType(data); {
	case mime == "image/png" && len(data) >= 24 && string(data[12:16]) == "IHDR": // the chunk behind the eight bytes of the magic
		return int(binary.BigEndian.Uint32(data[16:])), int(binary.BigEndian.Uint32(data[20:]))
	case mime == "image/gif" && len(data) >= 10:
		return int(binary.LittleEndian.Uint16(data[6:])), int(binary.LittleEndian.Uint16(data[8:]))
	case mime == "image/jpeg":
		return jpegSize(data)
	case mime == "image/webp":
		return webpSize(data)
	}
	return 0, 0
}

// webpSize reads the first chunk of a WebP, behind the twelve bytes of the magic: each of
// the three kinds has its own way to write the size.
func webpSize(data []byte) (width, height int) {
	if len(data) < 30 {
		return 0, 0
	}
	head := data[20:] // the content of the chunk
	switch string(data[12:16]) {
	case "VP8 ": // lossy: three bytes of the frame, its mark, 14 bits each
		if string(head[3:6]) != "\x9D\x01\x2A" {
			return 0, 0
		}
		return int(binary.LittleEndian.Uint16(head[6:])) & 0x3FFF, int(binary.LittleEndian.Uint16(head[8:])) & 0x3FFF
	case "VP8L": // lossless: a mark, then 14 bits each, less one
		if head[0] != 0x2F {
			return 0, 0
		}
		bits := binary.LittleEndian.Uint32(head[1:])
		return int(bits&0x3FFF) + 1, int(bits>>14&0x3FFF) + 1
	case "VP8X": // extended: flags, then 24 bits each, less one
		return uint24(head[4:]) + 1, uint24(head[7:]) + 1
	}
	return 0, 0
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

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
