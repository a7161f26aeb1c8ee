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
	Name   string      `json:"name"`
	K      int         `json:"k"`
	Seed   word        `json:"seed"`
	Tables []tableJSON `json:"tables"`
}

type tableJSON struct {
	Mask   word `json:"mask"`
	Radius int  `json:"radius"`
}

// MarshalJSON implements json.Marshaler.
func (d Design) MarshalJSON() ([]byte, error) {
	out := designJSON{Name: d.Name, K: d.K, Seed: word(d.Seed)}
	for _, t := range d.Tables {
		out.Tables = append(out.Tables, tableJSON{word(t.Mask), t.Radius})
	}
	return json.Marshal(out)
}

// UnmarshalJSON implements json.Unmarshaler. It does not check the design: call [Design.Validate] before using it.
func (d *Design) UnmarshalJSON(data []byte) error {
	var in designJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("design: %w", err)
	}
	*d = Design{Name: in.Name, K: in.K, Seed: uint64(in.Seed)}
	for _, t := range in.Tables {
		d.Tables = append(d.Tables, Table{uint64(t.Mask), t.Radius})
	}
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
