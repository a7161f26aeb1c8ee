package store

// A Sink receives sections, such as a [Writer].
type Sink interface {
	Section(name string)
	Write(p []byte) (int, error)
}

// A Source returns sections by name, such as a [File].
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
