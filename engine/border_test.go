package engine

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/search"
	"example.org/ndd/engine/oracle/must"
)

// TestBorder checks that public types have the memory layout of the internal types, so that lists need no copy.
func TestBorder(t *testing.T) {
	var same func(a, b reflect.Type) bool
	same = func(a, b reflect.Type) bool {
		if a.Kind() != b.Kind() || a.Size() != b.Size() {
			return false
		}
		switch a.Kind() {
		case reflect.Slice:
			return same(a.Elem(), b.Elem())
		case reflect.Struct:
			for i := range a.NumField() {
				if i >= b.NumField() || a.Field(i).Name != b.Field(i).Name || a.Field(i).Offset != b.Field(i).Offset ||
					!same(a.Field(i).Type, b.Field(i).Type) {
					return false
				}
			}
			return a.NumField() == b.NumField()
		}
		return true
	}
	for _, pair := range [][2]any{{Doc{}, rows.Doc{}}, {Hit{}, search.Hit{}}, {Outcome{}, live.Outcome{}}} {
		if a, b := reflect.TypeOf(pair[0]), reflect.TypeOf(pair[1]); !same(a, b) {
			t.Errorf("%v and %v have different fields", a, b)
		}
	}
}

// openAs opens an index with options of the implementation.
func openAs(ctx context.Context, dir string, o live.OpenOptions) (*Index, error) {
	x, err := live.Open(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	return Wrap(x), nil
}

// stable lists the packages whose types may appear in the signatures of this package, in addition to the standard
// library.
var stable = []string{"example.org/ndd/engine", "example.org/ndd/engine/corpus/simhash", "example.org/ndd/engine/corpus/sketch",
	"example.org/ndd/engine/corpus/ndf", "example.org/ndd/engine/memory", "example.org/ndd/permute"}

// TestStableSignatures checks that functions, methods and fields have types of stable packages only.
func TestStableSignatures(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var look func(place string, typ reflect.Type)
	look = func(place string, typ reflect.Type) {
		if seen[typ] {
			return
		}
		seen[typ] = true
		if path := typ.PkgPath(); strings.HasPrefix(path, "example.org/ndd/") {
			if !slices.Contains(stable, path) {
				t.Errorf("%s has the type %v", place, typ)
			}
			if path != "example.org/ndd/engine" {
				return
			}
			place = typ.Name()
			for with, i := reflect.PointerTo(typ), 0; i < with.NumMethod(); i++ {
				look(place+"."+with.Method(i).Name, with.Method(i).Type)
			}
		}
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice:
			look(place, typ.Elem())
		case reflect.Func:
			for i := range typ.NumIn() {
				look(place, typ.In(i))
			}
			for i := range typ.NumOut() {
				look(place, typ.Out(i))
			}
		case reflect.Struct:
			for i := range typ.NumField() {
				if f := typ.Field(i); f.IsExported() {
					look(place+"."+f.Name, f.Type)
				}
			}
		}
	}
	for name, f := range map[string]any{"New": New, "Build": Build, "Open": Open, "Create": Create, "Of": Wrap,
		"ErrDistance": &DistanceError{}} {
		look(name, reflect.TypeOf(f))
	}
	if !seen[reflect.TypeFor[Outcome]()] || !seen[reflect.TypeFor[BatchPlan]()] {
		t.Error("not all types were looked at")
	}
}

// TestDocumentWithoutID checks that an index that keeps IDs refuses a document without one, alone and in a list, and
// inserts nothing. An index without IDs takes it.
func TestDocumentWithoutID(t *testing.T) {
	ctx := t.Context()
	x, err := New(3, Options{})
	must.Do(t, err)
	defer x.Close()
	_, single := x.Insert(ctx, Doc{})
	_, list := x.Insert(ctx, Doc{ID: "a"}, Doc{Fingerprint: 1})
	_, checked := x.CheckAndInsert(ctx, QueryOptions{K: 3}, Doc{})
	for _, err := range []error{single, list, checked} {
		if !errors.Is(err, ErrNoID) {
			t.Errorf("%v", err)
		}
	}
	if n := x.Stats().Documents; n != 0 {
		t.Errorf("%d documents", n)
	}
	y, err := New(3, Options{NoIDs: true})
	must.Do(t, err)
	defer y.Close()
	_, err = y.Insert(ctx, Doc{})
	must.Do(t, err)
}
