package wire

import "io"

// RelayReply forwards the reply that r follows from c to dst, as the bytes come.
// It returns when the reply is over, or when the server asks for a file
// (r.Infile). last, if not nil, runs once the end of the reply has been seen and
// before its last bytes are written: what the client may rely on after the
// reply has to be true by then.
func (c *Conn) RelayReply(dst io.Writer, r *Reply, last func()) (readErr, writeErr error) {
	pos := c.r // buf[c.r:pos] has been looked at and not yet written
	for {
		need := headerLen
		if c.w-pos >= headerLen {
			need += min(chunkLen(c.buf[pos:]), prefixLen)
		}
		if c.w-pos < need {
			if pos > c.r {
				if _, err := dst.Write(c.buf[c.r:pos]); err != nil {
					return nil, err
				}
				c.r = pos
			}
			if c.w == len(c.buf) {
				c.Enlarge()
			}
			if err := c.fill(need); err != nil {
				return err, nil
			}
			pos = c.r
			continue
		}
		n := chunkLen(c.buf[pos:])
		r.Seq = c.buf[pos+3]
		done := r.Feed(n, c.buf[pos+headerLen:pos+need])
		if done && last != nil {
			last()
		}
		pos += headerLen + n
		if pos > c.w { // the packet goes on beyond the buffer
			total := pos - c.r
			if readErr, writeErr = c.Forward(dst, total); readErr != nil || writeErr != nil {
				return readErr, writeErr
			}
			pos = c.r
		}
		if done || r.Infile {
			if pos > c.r {
				_, writeErr = dst.Write(c.buf[c.r:pos])
				c.r = pos
			}
			c.Shrink()
			return nil, writeErr
		}
	}
}

func chunkLen(h []byte) int { return int(h[0]) | int(h[1])<<8 | int(h[2])<<16 }
