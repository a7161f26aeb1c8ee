package live

import "errors"

// ErrTwoPrints is wrapped where an index whose documents have two fingerprints each is to be written to.
var ErrTwoPrints = errors.New("each document has two fingerprints, and such an index is built whole and then only read")
