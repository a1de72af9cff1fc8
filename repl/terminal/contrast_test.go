package terminal

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// luminance is that of a colour, as WCAG 2 defines it.
func luminance(c shade) (sum float64) {
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v := float64(c[i]) / 255
		if v <= 0.03928 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}

func TestTextOfTheThemeCanBeReadOnDarkAndLight(t *testing.T) {
	const least = 4.5
	for _, name := range names() {
		i, _ := inkOf(name)
		if !strings.HasPrefix(i.rich, "38;5;") || name == "border" {
			continue
		}
		for _, x := range []struct {
			parameters string
			background shade
		}{{i.rich, shade{}}, {i.richLight, shade{255, 255, 255}}} {
			n, err := strconv.Atoi(strings.TrimPrefix(x.parameters, "38;5;"))
			if err != nil {
				t.Fatal(err)
			}
			a, b := luminance(numbered(n)), luminance(x.background)
			if got := (max(a, b) + 0.05) / (min(a, b) + 0.05); got < least {
				t.Errorf("%s: %s on %v has a contrast of %.1f", name, x.parameters, x.background, got)
			}
		}
	}
}
