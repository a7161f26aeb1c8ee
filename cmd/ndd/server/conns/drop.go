package conns

// Drop has [Conn.Read] throw away what it would read into p: into p itself, not into any other memory, so that what lies between the
// connection and its reader, and keeps what was read for later, still reads. Nil ends that. Where the kernel can, it
// throws bytes away without a copy, and p stays as it is; elsewhere they are read. All else about Read is as ever: how many bytes have
// come, its errors and its deadline.
func (c *Conn) Drop(p []byte) {
	if c == nil {
		return
	}
	c.dropped.Store(nil)
	if len(p) > 0 {
		c.dropped.Store(&p[0])
	}
}

// readOrDrop reads into p, or drops as much.
func (c *Conn) readOrDrop(p []byte) (int, error) {
	if to := c.dropped.Load(); to != nil && len(p) > 0 && to == &p[0] {
		return drop(c.Conn, p)
	}
	return c.Conn.Read(p)
}
