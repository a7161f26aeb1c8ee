package store

import "fmt"

// A Sink takes sections: a [Writer], or a [Memory].
type Sink interface {
	Section(name string)
	Write(p []byte) (int, error)
}

// A Source gives sections by name: a [File], or a [Memory].
type Source interface {
	Section(name string) (Section, error)
}

// Memory keeps sections without a file, for what is searched before it is
// written, or never is. The zero value is empty and ready. Written by one
// goroutine, then read by many.
type Memory struct {
	names []string
	data  map[string][]byte
}

// Section begins a section, whose name must be new.
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

// Write appends to the section begun last.
func (m *Memory) Write(p []byte) (int, error) {
	last := m.names[len(m.names)-1]
	m.data[last] = append(m.data[last], p...)
	return len(p), nil
}

// Source reads what was written. Nothing may be written any more.
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
