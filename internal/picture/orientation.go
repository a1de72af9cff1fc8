package picture

import (
	"bytes"
	"encoding/binary"
	"image"
)

// A camera that was held upright writes the picture lying, and into the EXIF data of the
// JPEG how it is to be turned. A copy has no EXIF data, so its pixels are turned.

// upright is the EXIF orientation of an image that is shown as it is stored. The others
// are 2 to 8, see [turned].
const upright = 1

// orientation returns the EXIF orientation of a JPEG, upright if it states none and for
// any other image.
func orientation(data []byte) int {
	if !isJPEG(data) {
		return upright
	}
	const appOne = 0xE1
	for marker, segment := range segments(data) {
		if exif, ok := bytes.CutPrefix(segment, []byte("Exif\x00\x00")); ok && marker == appOne {
			return exifOrientation(exif)
		}
		if marker == startOfScan {
			break
		}
	}
	return upright
}

// exifOrientation reads the tag 0x0112 of the first directory of EXIF data, which are a
// TIFF: a head of 8 bytes, which says the order of bytes and where the directory is, and
// there a count and entries of 12 bytes: tag, type, count, value.
func exifOrientation(tiff []byte) int {
	if len(tiff) < 8 {
		return upright
	}
	var order binary.ByteOrder = binary.BigEndian
	if tiff[0] == 'I' {
		order = binary.LittleEndian
	}
	at := order.Uint32(tiff[4:])
	if uint64(at)+2 > uint64(len(tiff)) {
		return upright
	}
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < 12 {
			break
		}
		if order.Uint16(entries) == 0x0112 {
			if v := int(order.Uint16(entries[8:])); v > upright && v <= 8 {
				return v
			}
			break
		}
		entries = entries[12:]
	}
	return upright
}

// turned returns m turned and mirrored as an EXIF orientation says: 2 to 4 mirror it from
// left to right, in both directions, and upside down; 5 to 8 have width and height
// exchanged, 6 is turned to the right and 8 to the left.
func turned(m *image.RGBA, orientation int) *image.RGBA {
	if orientation <= upright || orientation > 8 {
		return m
	}
	width, height := m.Rect.Dx(), m.Rect.Dy()
	lies := orientation >= 5
	mirrorX := orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8
	mirrorY := orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	if lies {
		out = image.NewRGBA(image.Rect(0, 0, height, width))
	}
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			fromX, fromY := x, y
			if lies {
				fromX, fromY = y, x
			}
			if mirrorX {
				fromX = width - 1 - fromX
			}
			if mirrorY {
				fromY = height - 1 - fromY
			}
			copy(out.Pix[out.PixOffset(x, y):][:4], m.Pix[m.PixOffset(fromX, fromY):][:4])
		}
	}
	return out
}
