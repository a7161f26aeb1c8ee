package ingest

import (
	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/text"
)

// Settings are the options that determine the documents of the inputs and their texts. Their JSON names are the flags.
type Settings struct {
	Text        string          `json:"--text"`
	ID          string          `json:"--id"`
	Format      format.Format   `json:"--input-format"`
	Extract     text.Extraction `json:"--extract"`
	MaxDocument int64           `json:"--max-document"`
	Job         string          `json:"job"` // as in [Config]
}

// Settings returns the settings of a configuration.
func (c *Config) Settings() Settings {
	o := &c.Document
	return Settings{o.TextField, o.IDField, o.Format, o.Extract, c.longest(), c.Job}
}

// Check returns an error that wraps [simhash.ErrMixed] if two shares were read with different settings.
func (s Settings) Check(name, otherName string, other Settings) error {
	if s == other {
		return nil
	}
	return simhash.Mixed("%s and %s were made with different options: %s; make all shares with the same ones", name, otherName,
		simhash.Difference(s, other))
}
