package wal

import (
	"testing"

	"ndd/engine/oracle/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }
