package simhash

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// ErrMixed is what [Compatible] wraps: fingerprints of two recipes were about to be compared.
var ErrMixed = errors.New("fingerprints do not belong together")

// Compatible returns nil if fingerprints of two recipes may be compared: if the recipes are equal, or both nil, which
// says that the fingerprints are raw and nobody knows how they were made. Otherwise the error wraps [ErrMixed], calls
// the fingerprints a and b, as the caller does, and says in what their recipes differ: by name if both have one, else
// by every field.
func Compatible(a string, recipeA *Recipe, b string, recipeB *Recipe) error {
	switch {
	case recipeA == nil && recipeB == nil || recipeA != nil && recipeB != nil && *recipeA == *recipeB:
		return nil
	case recipeA == nil:
		return fmt.Errorf("%w: %s has raw fingerprints without a recipe, %s has a recipe", ErrMixed, a, b)
	case recipeB == nil:
		return fmt.Errorf("%w: %s has raw fingerprints without a recipe, %s has a recipe", ErrMixed, b, a)
	}
	if x, y := recipeA.Name(), recipeB.Name(); x != "" && y != "" && x != y {
		return fmt.Errorf("%w: %s is of recipe %s, %s of recipe %s", ErrMixed, a, x, b, y)
	}
	return fmt.Errorf("%w: the recipes of %s and %s differ: %s", ErrMixed, a, b, recipeA.difference(recipeB))
}

// difference returns every field in which two recipes differ.
func (r *Recipe) difference(other *Recipe) string {
	var differ []string
	a, b := reflect.ValueOf(*r), reflect.ValueOf(*other)
	for i := range a.NumField() {
		if x, y := a.Field(i).Interface(), b.Field(i).Interface(); x != y {
			name, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("json"), ",")
			differ = append(differ, fmt.Sprintf("%s is %v and %v", name, show(x), show(y)))
		}
	}
	return strings.Join(differ, "; ")
}

// show quotes strings and leaves numbers.
func show(v any) any {
	if s, ok := v.(string); ok {
		return fmt.Sprintf("%.80q", s)
	}
	return v
}
