package cli

import (
	"testing"
	"time"

	"example.org/ndd/engine/index/live/rows"
)

func TestParseTTL(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1s": time.Second, "10m": 10 * time.Minute, "36h": 36 * time.Hour, "90d": 90 * 24 * time.Hour,
		"forever": rows.Forever, "999999d": rows.Forever,
		"": 0, "0s": 0, "-1s": 0, "1": 0, "s": 0, "1.5h": 0, "1h30m": 0, "1234567s": 0, "1y": 0, "01s": 0, "+1s": 0,
	} {
		if got, err := ParseTTL(text); got != want || (err == nil) != (want != 0) {
			t.Errorf("%q: %v %v, want %v", text, got, err, want)
		}
	}
}
