package page

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Texts keep a contrast of 4.5 to what they are on, light and dark.
func TestTextsCanBeRead(t *testing.T) {
	parts := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllStringSubmatch(string(style), -1)
	if len(parts) != 3 {
		t.Fatalf("%d sets of colours", len(parts))
	}
	for i, name := range []string{"light", "dark", "paper"} {
		colours := map[string]string{}
		for _, c := range regexp.MustCompile(`--([\w-]+): #(\w+);`).FindAllStringSubmatch(parts[i][1], -1) {
			colours[c[1]] = c[2]
		}
		for _, pair := range []string{"text back", "text card", "text mine", "dim back", "dim card", "dim mine", "link back", "link mine", "bad back", "bad card", "on-mark mark",
			"comment card", "string card", "number card", "keyword card", "text ins", "text del"} {
			front, back, _ := strings.Cut(pair, " ")
			if r := contrast(t, colours[front], colours[back]); r < 4.5 {
				t.Errorf("%s: %s has a contrast of %.2f", name, pair, r)
			}
		}
	}
}

// contrast is that of two colours as the guidelines for accessibility of the web count it.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + .05) / (min(x, y) + .05)
}

func luminance(t *testing.T, hex string) (sum float64) {
	t.Helper()
	if len(hex) == 3 {
		hex = hex[:1] + hex[:1] + hex[1:2] + hex[1:2] + hex[2:] + hex[2:]
	}
	for i, weight := range []float64{.2126, .7152, .0722} {
		n, err := strconv.ParseUint(hex[min(2*i, len(hex)):min(2*i+2, len(hex))], 16, 8)
		if err != nil {
			t.Fatalf("colour %q: %v", hex, err)
		}
		c := float64(n) / 255
		if c <= .04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}
