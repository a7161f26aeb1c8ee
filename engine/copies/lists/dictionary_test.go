package lists

import (
	"encoding/binary"
	"errors"
	"testing"

	"ndd/engine/oracle/must"
	"ndd/engine/storage/store"
)

// TestDamagedBlock: a block of a dictionary whose codes are none is said to be damaged, for
// signatures that it does not have, too.
func TestDamagedBlock(t *testing.T) {
	var m store.Memory
	m.Section("x")
	m.Write(make([]byte, 32)) // zeros, of which no code is so long
	m.Section("x.index")
	m.Write(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, 5), 0))
	d, err := openDictionary(m.Source(), "x", 2)
	must.Do(t, err)
	for _, hash := range []uint64{5, 6, 100} {
		if _, ok, err := d.find(hash); ok || !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("signature %d: %v, %v", hash, ok, err)
		}
	}
	if _, ok, err := d.find(4); ok || err != nil { // before all blocks
		t.Error(ok, err)
	}
}
