package simhash

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// ParseRecipe reads a recipe from JSON and validates it. Absent fields have the default values of the version:
// [Simhash] for version 1 and [Minwise] for version 2. The version is required. Unknown fields are errors, because a
// misspelt field would silently change every fingerprint.
func ParseRecipe(data []byte) (Recipe, error) {
	r, err := decode(data)
	if err == nil {
		err = r.Validate()
	}
	if err != nil {
		return Recipe{}, err
	}
	return r, nil
}

// ReadRecipe reads a recipe from a file. Relative paths in the recipe are relative to the folder of this file. If the
// digest of a file is absent, ReadRecipe computes it.
func ReadRecipe(path string) (Recipe, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Recipe{}, err
	}
	r, err := decode(data)
	for _, entry := range r.resources() {
		if err == nil {
			err = entry.resource.complete(filepath.Dir(path))
		}
	}
	if err = cmp.Or(err, r.Validate()); err != nil {
		return Recipe{}, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// decode reads a recipe without validating it.
func decode(data []byte) (Recipe, error) {
	var version struct{ Version int }
	json.Unmarshal(data, &version) // d.Decode returns the error again
	r := Simhash()
	if version.Version == 2 {
		r = Minwise()
	}
	r.Version = 0
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			e.Field = e.Field[strings.LastIndexByte(e.Field, '.')+1:] // without the name of an embedded struct
		}
		return Recipe{}, fmt.Errorf("recipe: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Recipe{}, fmt.Errorf("recipe: data after the JSON object, at byte %d", d.InputOffset())
	}
	return r, nil
}
