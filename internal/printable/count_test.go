package printable

import (
	"testing"
	"time"
)

func TestCountKnowsOneFromMany(t *testing.T) {
	for n, want := range map[int]string{-1: "-1 more models", 0: "0 more models", 1: "1 more model", 2: "2 more models", 1200: "1200 more models"} {
		if got := Count(n, "more model"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAValueIsShownInOneLineThatIsNotLong(t *testing.T) {
	long := make([]byte, 300)
	for i := range long {
		long[i] = 'x'
	}
	for text, want := range map[string]string{
		"plain ä 漢":      "plain ä 漢",
		"a\nb\tc\x1b[m":  "a\ufffdb\ufffdc\ufffd[m",
		"a\u202eb\u3164": "a\ufffdb\ufffd",
		string(long):     string(long[:200]) + "…",
	} {
		if got := Short(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

func TestANameSaysWhetherItsValueIsAKey(t *testing.T) {
	for name, want := range map[string]bool{
		"Authorization": true, "X-Api-Key": true, "set-cookie": true, "access_TOKEN": true, "client_secret": true, "Password": true,
		"Proxy-Authorization": true, "X-Goog-Api-Key": true, "apikey": true, "accessToken": true, "APIKey": true, "X-Api-Keys": true, "key2": true,
		"Content-Type": false, "api-version": false, "": false, "X-Portkey-Provider": false, "x-keystone-project": false, "tokenizer": false, "author": false,
	} {
		if got := CarriesKey(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestWhatServersWithoutKeysTakeIsNoSecret(t *testing.T) {
	for value, want := range map[string]bool{"": false, "ollama": false, "none": false, "EMPTY": false, "lm-studio": false, "sk-no-key-required": false, "1234567": false,
		"12345678": true, "sk-0123456789": true} {
		if got := IsSecret(value); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}

func TestALimitIsWordedExactly(t *testing.T) {
	for n, want := range map[int]string{1: "1 byte", 1000: "1000 bytes", 1 << 10: "1 KiB", 1<<10 + 1: "1025 bytes", 3 << 19: "1536 KiB", 64 << 20: "64 MiB", 3_750_000: "3.75 MB", 3_755_000: "3755000 bytes"} {
		if got := Bytes(n); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTheBeginningOfATextFits(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "abc": "abc", "abcdef": "abcd…", " \n\n abcdefg\nh": "abcd…", "a\x1b[31mb\nc": "ab", "äöüßéè": "äöüß…",
	} {
		if got := FirstLine(text, 5); got != want {
			t.Errorf("%q begins with %q, want %q", text, got, want)
		}
	}
}

func TestSizesReadAsPeopleSayThem(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 45_678: "45.7 kB", 52_428_800: "52.4 MB", 3e9: "3.0 GB"} {
		if got := Size(n); got != want {
			t.Errorf("%d bytes are %q, want %q", n, got, want)
		}
	}
}

func TestTimesAreSaidInWholeSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 1999 * time.Millisecond: "1 s", 59 * time.Second: "59 s", 61 * time.Second: "1 min 1 s",
		time.Hour: "1 h 0 min", 90*time.Minute + 59*time.Second: "1 h 30 min",
	} {
		if got := Seconds(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}
