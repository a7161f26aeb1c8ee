package shingle

import (
	"testing"

	"ndd/engine/oracle"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }
