package rawjson

import (
	"bytes"
	"strconv"
)

// MayHaveSurrogate reports whether JSON text has the escape of a surrogate, or what
// looks like one. Text without any needs no [ReplaceSurrogates].
func MayHaveSurrogate(v []byte) bool {
	return bytes.Contains(v, []byte(`\ud`)) || bytes.Contains(v, []byte(`\uD`))
}

// ReplaceSurrogates returns a copy of valid JSON in which the escapes of unpaired
// surrogates are those of U+FFFD.
func ReplaceSurrogates(v []byte) []byte {
	out := make([]byte, 0, len(v))
	for i := 0; i < len(v); {
		if v[i] != '\\' {
			out = append(out, v[i])
			i++
			continue
		}
		n, broken := escapeAt(v[i:])
		if broken {
			out = append(out, `\ufffd`...)
		} else {
			out = append(out, v[i:i+n]...)
		}
		i += n
	}
	return out
}

// escapeAt returns the length of the escape that v begins with, or of both escapes of a
// surrogate pair. broken is true for a surrogate that is not part of a pair.
func escapeAt(v []byte) (n int, broken bool) {
	first, ok := unicodeEscape(v)
	if !ok {
		return 2, false
	}
	if first < 0xd800 || first > 0xdfff {
		return 6, false
	}
	second, ok := unicodeEscape(v[6:])
	if first < 0xdc00 && ok && second >= 0xdc00 && second <= 0xdfff {
		return 12, false
	}
	return 6, true
}

// unicodeEscape decodes the escape of a UTF-16 unit that v begins with; false for
// anything else.
func unicodeEscape(v []byte) (uint64, bool) {
	if len(v) < 6 || v[0] != '\\' || v[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(v[2:6]), 16, 32)
	return n, err == nil
}
