package conns

import "time"

// An idleList has the idle connections, the one that has been idle longest in front. Connections are its links, so that
// a request costs no memory here. It belongs to the Listener's mutex.
type idleList struct {
	first, last *Conn
	len         int
}

// push puts a connection that is not in the list behind the others: it is idle from now on.
func (l *idleList) push(c *Conn) {
	c.since, c.idle = time.Now(), true
	c.before, c.after = l.last, nil
	if l.last != nil {
		l.last.after = c
	} else {
		l.first = c
	}
	l.last = c
	l.len++
}

// remove takes a connection out, if it is in.
func (l *idleList) remove(c *Conn) {
	if !c.idle {
		return
	}
	c.idle = false
	if c.before != nil {
		c.before.after = c.after
	} else {
		l.first = c.after
	}
	if c.after != nil {
		c.after.before = c.before
	} else {
		l.last = c.before
	}
	c.before, c.after = nil, nil
	l.len--
}
