package mapreduce

import (
	"strings"

	"example.org/ndd/engine/corpus/sketch"
)

// EndOf returns the end record of results.
func EndOf(results string) string {
	e := end{Parts: 1}
	for line := range strings.Lines(results) {
		e.count.add(cut([]byte(strings.TrimSuffix(line, "\n"))))
	}
	return endKey + "\t" + string(e.append(nil)) + "\n"
}

// SketchField returns a sketch as a field of a record.
func SketchField(s *sketch.Sketch) string { return string(appendSketch(nil, s)) }

// HashField returns a hash of a text as a field.
func HashField(hash uint64) string {
	return string(appendNumber(appendNumber(nil, hash*0x9e3779b97f4a7c15, printDigits), hash, printDigits))
}

// PlaceField returns a place as a field.
func PlaceField(file string, row int) string { return string(appendPlace(nil, file, int64(row))) }
