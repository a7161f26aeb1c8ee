package permute

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// A design in JSON. Words of 64 bits are hexadecimal strings, because most JSON readers would round them to 53 bits:
//
//	{"name":"halves","k":3,"seed":"0x0000000000000001","tables":[
//	  {"mask":"0x9d2...","radius":1}, ...]}

type designJSON struct {
	Name   string  `json:"name"`
	K      int     `json:"k"`
	Seed   word    `json:"seed"`
	Tables []Table `json:"tables"`
}

type tableJSON struct {
	Mask   word `json:"mask"`
	Radius int  `json:"radius"`
}

// MarshalJSON implements json.Marshaler.
func (d Design) MarshalJSON() ([]byte, error) {
	return json.Marshal(designJSON{d.Name, d.K, word(d.Seed), d.Tables})
}

// UnmarshalJSON implements json.Unmarshaler. It does not check the design: call [Design.Validate] before using it.
func (d *Design) UnmarshalJSON(data []byte) error {
	var in designJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("design: %w", err)
	}
	*d = Design{in.Name, in.K, uint64(in.Seed), in.Tables}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (t Table) MarshalJSON() ([]byte, error) {
	return json.Marshal(tableJSON{word(t.Mask), t.Radius})
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Table) UnmarshalJSON(data []byte) error {
	var in tableJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	*t = Table{uint64(in.Mask), in.Radius}
	return nil
}

// word is a 64-bit word whose only text form is 0x and 16 hexadecimal digits.
type word uint64

func (w word) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "0x%016x", uint64(w)), nil
}

func (w *word) UnmarshalText(text []byte) error {
	digits, ok := bytes.CutPrefix(text, []byte("0x"))
	v, err := strconv.ParseUint(string(digits), 16, 64)
	if !ok || err != nil || len(digits) != 16 {
		return fmt.Errorf("word %.40q: want 0x and 16 hexadecimal digits", text)
	}
	*w = word(v)
	return nil
}
