package numa

import (
	"testing"

	"example.org/ndd/engine/oracle"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }
