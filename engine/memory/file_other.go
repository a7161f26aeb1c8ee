//go:build !unix

package memory

import (
	"errors"
	"os"
)

// CanMapFile says whether [MapFile] works here.
const CanMapFile = false

// MapFile is not supported: memory that is taken from a file would be in the heap.
func MapFile(*os.File, uint64) ([]byte, error) { return nil, errors.ErrUnsupported }
