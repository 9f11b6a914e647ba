//go:build !linux

package wire

// sendSection copies where the system's sendfile is not used.
func (c *Conn) sendSection(s Section) error { return c.copySection(s) }
