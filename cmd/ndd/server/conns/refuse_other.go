//go:build !linux

package conns

import "net"

// refuse does nothing: who connects at the last moment is reset.
func refuse(net.Listener) {}

// pending returns false: it is not known.
func pending(net.Listener) bool { return false }
