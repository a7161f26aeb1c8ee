package cli

import (
	"errors"
	"io/fs"
	"os"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/text"
)

// RecipeOf returns the recipe with a name, or from a file. For "" it returns the default recipe.
func RecipeOf(nameOrFile string) (simhash.Recipe, error) {
	if nameOrFile == "" {
		nameOrFile = simhash.Default().Name()
	}
	named, noSuchName := simhash.RecipeByName(nameOrFile)
	if noSuchName == nil {
		named.Extract = string(text.ExtractAuto)
		return named, nil
	}
	if _, err := os.Stat(nameOrFile); errors.Is(err, fs.ErrNotExist) {
		return simhash.Recipe{}, Usagef("%w, and there is no file %s", noSuchName, nameOrFile)
	}
	return simhash.ReadRecipe(nameOrFile)
}
