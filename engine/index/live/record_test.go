package live

import (
	"errors"
	"reflect"
	"testing"

	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/live/rows"
)

// TestRecord reads each kind of record back, and refuses it with fewer bytes, with one more, and with wrong numbers.
func TestRecord(t *testing.T) {
	config := &Config{IDs: true, Sketches: true}
	docs := []rows.Doc{{Fingerprint: 7, ID: "a", Sketch: sketch.Sketch{1, 2}}, {Fingerprint: 1 << 63}}
	for name, c := range map[string]change{
		"insert": {first: 300, docs: docs, delete: []rows.DocID{5, 299}},
		"expire": {first: 300, docs: docs, expires: []rows.Time{60, 0}},
		"delete": {delete: []rows.DocID{1, 1 << 40}},
		"gap":    {gap: true, first: 1 << 30},
	} {
		t.Run(name, func(t *testing.T) {
			record := c.append(nil, config)
			if got, err := parseChange(record); err != nil || !reflect.DeepEqual(got, c) {
				t.Errorf("%+v, %v, want %+v", got, err, c)
			}
			for n := range record {
				if _, err := parseChange(record[:n]); !errors.Is(err, errRecord) {
					t.Errorf("%d of %d bytes: %v", n, len(record), err)
				}
			}
			if _, err := parseChange(append(record, 0)); !errors.Is(err, errRecord) {
				t.Errorf("one more byte: %v", err)
			}
		})
	}
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}
	for name, record := range map[string][]byte{
		"a kind of a newer version":    {9},
		"a document beyond the limit":  append([]byte{recordGap}, huge...),
		"more deletions than bytes":    append([]byte{recordDelete}, huge...),
		"more documents than bytes":    append([]byte{recordInsert, 0}, append(huge, 0)...),
		"an ID longer than the record": append(append([]byte{recordInsert, 0, 1, recordIDs}, make([]byte, 8)...), huge...),
		"a run of no documents":        append(append([]byte{recordExpire, 0, 1, 0}, make([]byte, 9)...), 1, 0, 0),
	} {
		if _, err := parseChange(record); !errors.Is(err, errRecord) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
