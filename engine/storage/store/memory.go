package store

import "fmt"

// A Sink receives sections: a [Writer] or a [Memory].
type Sink interface {
	Section(name string)
	Write(p []byte) (int, error)
}

// A Source returns sections by name: a [File] or the source of a [Memory].
type Source interface {
	Section(name string) (Section, error)
}

// WriteSection writes a section from one slice.
func WriteSection(sink Sink, name string, data []byte) error {
	sink.Section(name)
	_, err := sink.Write(data)
	return err
}

// SectionOf returns a section and checks its length.
func SectionOf(source Source, name string, bytes uint64) (Section, error) {
	s, err := source.Section(name)
	if err == nil && uint64(len(s.Data)) != bytes {
		err = s.Corrupt(0, "%d bytes, want %d", len(s.Data), bytes)
	}
	return s, err
}

// Memory keeps sections on the Go heap without a file, for data that is searched before it is written, or is never
// written. The zero value is empty. It is written by one goroutine. After [Memory.Source], it is safe for concurrent
// reads.
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
		panic(fmt.Sprintf("store: a second section %q", name))
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
func (m *Memory) Source() Source { return memorySource{m.data} }

type memorySource struct{ data map[string][]byte }

var memoryFile = &File{path: "memory"}

func (m memorySource) Section(name string) (Section, error) {
	data, ok := m.data[name]
	if !ok {
		return Section{}, memoryFile.corrupt("sections", 0, "no section %q", name)
	}
	return Section{Name: name, Data: data, file: memoryFile}, nil
}
