package store

import "fmt"

// A Sink takes sections: a [Writer] or a [Memory].
type Sink interface {
	Section(name string)
	Write(p []byte) (int, error)
}

// A Source returns sections by name: those of a [File] or a [Memory].
type Source interface {
	Section(name string) (Section, error)
}

// WriteSection writes a section that is one piece.
func WriteSection(sink Sink, name string, data []byte) error {
	sink.Section(name)
	_, err := sink.Write(data)
	return err
}

// SectionOf returns a section that must have so many bytes.
func SectionOf(source Source, name string, bytes uint64) (Section, error) {
	s, err := source.Section(name)
	if err == nil && uint64(len(s.Data)) != bytes {
		err = s.Corrupt(0, "%d bytes where %d are due", len(s.Data), bytes)
	}
	return s, err
}

// Memory keeps sections on the Go heap without a file, for data that is searched before it is
// written, or never is. The zero value is empty and ready. It is written by one goroutine; after
// [Memory.Source] any number may read.
type Memory struct {
	names []string
	data  map[string][]byte
}

// Section begins the section called name, which must be new: a second one panics.
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

// Write appends to the section begun last. It never fails.
func (m *Memory) Write(p []byte) (int, error) {
	last := m.names[len(m.names)-1]
	m.data[last] = append(m.data[last], p...)
	return len(p), nil
}

// Source returns a source of the sections that were written. Nothing may be written after it.
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
