package permute

import (
	"encoding/json"
	"reflect"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

func TestJSON(t *testing.T) {
	d := Design{Name: "halves", K: 3, Seed: 1 << 63, Tables: []Table{{0xffffffff << 32, 1}, {0xffffffff, 1}}}
	data, err := json.Marshal(d)
	must.Do(t, err)
	const want = `{"name":"halves","k":3,"seed":"0x8000000000000000","tables":[` +
		`{"mask":"0xffffffff00000000","radius":1},{"mask":"0x00000000ffffffff","radius":1}]}`
	if string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
	everyDesign(t, 1<<60+1, func(t *testing.T, d Design) {
		data, err := json.Marshal(&d)
		must.Do(t, err)
		var back Design
		if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(back, d) {
			t.Errorf("%s, k = %d: %v\n%+v\n%+v", d.Name, d.K, err, back, d)
		}
	})
}

func TestHostileJSON(t *testing.T) {
	for _, text := range []string{
		``, `null`, `{}`, `[]`, `"halves"`,
		`{"name":"halves","k":3,"seed":"0x0000000000000001"}`,
		`{"name":"halves","k":3,"seed":1,"tables":[{"mask":"0x00000000ffffffff","radius":3}]}`,
		`{"name":"halves","k":3,"seed":"0x1","tables":[{"mask":"0x00000000ffffffff","radius":3}]}`,
		`{"name":"halves","k":3,"seed":"0x0000000000000001","tables":[{"mask":"0x00000000ffffffff","radius":2}]}`,
		`{"name":"halves","k":3,"seed":"0x0000000000000001","tables":[{"mask":"0xfffffffffffffffff","radius":3}]}`,
		`{"name":"halves","k":3,"seed":"0x0000000000000001","tables":[{"mask":"0x+0000000ffffffff","radius":3}]}`,
		`{"name":"halves","k":3,"seed":"0x0000000000000001","tables":[{"mask":"0x_0000000ffffffff","radius":3}]}`,
		`{"name":"halves","k":3e9,"seed":"0x0000000000000001","tables":[{"mask":"0x00000000ffffffff","radius":3}]}`,
		`{"name":"halves","k":3,"seed":"0x0000000000000001","tables":[{"mask":"0x00000000ffffffff",` +
			`"radius":99999999999999999999}]}`,
		`{"name":"halves","k":3,"seed":"0x0000000000000001","tables":[{"radius":3}]}`,
		`{"name":"halves","k":3,"seed":"0x0000000000000001","tables":[null]}`,
	} {
		var d Design
		err := json.Unmarshal([]byte(text), &d)
		if err == nil {
			err = d.Validate()
		}
		if err == nil {
			t.Errorf("accepted: %s", text)
		}
	}
	const good = `{"name":"mine","k":3,"seed":"0x0000000000000001","tables":[{"mask":"0x00000000ffffffff","radius":3}]}`
	var d Design
	if err := json.Unmarshal([]byte(good), &d); err != nil || d.Validate() != nil {
		t.Errorf("refused: %v, %v", err, d.Validate())
	}
}

func FuzzDesign(f *testing.F) {
	for _, d := range Catalogue(3, 1) {
		data, err := json.Marshal(d)
		must.Do(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var d Design
		if json.Unmarshal(data, &d) != nil || d.Validate() != nil {
			return
		}
		if missed, found := firstMissed(&d, min(d.K, 2)); found {
			t.Errorf("valid, but misses %#x: %s", missed, data)
		}
	})
}
