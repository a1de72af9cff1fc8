// Package rawjson reads fields of a JSON text without decoding the rest of it, and
// writes objects whose other fields keep their bytes.
//
// Values stay raw: they are slices of the text, which must not be changed. [Fields] and
// [Elements] walk over one object or array, [Field] looks for one key, and [Unquote] and
// [Number] decode a value. They check no more than they
// need; a caller that does not know that a text is JSON asks [Valid] first.
//
// An [Object] is a list of fields to be written, in their order. [Overlay] writes an
// object that was read and changed: fields that did not change keep their bytes and
// their places, and so do fields that nobody here knows.
//
// On valid UTF-8 all answers are those of encoding/json, except that the first of two
// equal keys counts, not the last.
package rawjson
