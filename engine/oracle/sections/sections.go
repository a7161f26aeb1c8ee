// Package sections keeps the sections of a file on the Go heap, for tests that need no file.
package sections

import (
	"fmt"

	"example.org/ndd/engine/storage/store"
)

// Memory is a [store.Sink] without a file. The zero value is empty. It is written by one goroutine. After
// [Memory.Source], it is safe for concurrent reads.
type Memory struct {
	names []string
	data  map[string][]byte
}

// Section begins the section with that name. It panics if the name already exists.
func (m *Memory) Section(name string) {
	if m.data == nil {
		m.data = make(map[string][]byte)
	}
	if _, ok := m.data[name]; ok {
		panic(fmt.Sprintf("sections: a second section %q", name))
	}
	m.data[name] = nil
	m.names = append(m.names, name)
}

// Write appends to the current section. It never fails.
func (m *Memory) Write(p []byte) (int, error) {
	last := m.names[len(m.names)-1]
	m.data[last] = append(m.data[last], p...)
	return len(p), nil
}

// Source returns the written sections. Nothing may be written afterwards.
func (m *Memory) Source() store.Source { return source(m.data) }

type source map[string][]byte

func (s source) Section(name string) (store.Section, error) {
	data, ok := s[name]
	if !ok {
		return store.Section{}, &store.CorruptError{File: "memory", Section: "sections", Block: -1,
			Reason: fmt.Sprintf("no section %q", name)}
	}
	return store.Section{Name: name, Data: data}, nil
}
