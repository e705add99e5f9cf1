package journal

import "time"

// retain removes the segments that were wholly applied long enough ago. It is
// called without the lock, by run only.
func (j *Journal) retain() {
	for {
		j.mu.Lock()
		s := j.removable(false)
		if s == nil {
			j.mu.Unlock()
			return
		}
		j.removing = true
		j.mu.Unlock()
		err := j.chain.remove(s)
		j.mu.Lock()
		j.removing = false
		if err == nil {
			j.forget(s)
		}
		j.mu.Unlock()
		if err != nil {
			j.log.Warn().Err(err).Msg("journal: old segment not removed, will try again")
			return
		}
	}
}

// removable returns the oldest segment if nothing needs it any more. Segments
// go strictly in order: a later one says what of an earlier one was applied.
// With force they need not have been kept for long. mu is held.
func (j *Journal) removable(force bool) *segment {
	c := j.chain
	if j.removing || len(c.segments) == 0 {
		return nil
	}
	now := j.opts.Now()
	newest := c.newest()
	for _, s := range c.segments {
		if s == newest || !s.applied() {
			break
		}
		if s.appliedAt.IsZero() || now.Before(s.appliedAt) {
			s.appliedAt = now // seen just now, or the clock went backwards
		}
	}
	s := c.segments[0]
	// The newest one stays: it knows the sequence numbers that were given away.
	if s == newest || newest == nil || s.number > newest.number || s.readers > 0 || s.appliedAt.IsZero() {
		return nil
	}
	if !force && now.Sub(s.appliedAt) < max(0, j.opts.Keep) {
		return nil
	}
	return s
}

// applied reports whether every record in a closed segment is on the server.
func (s *segment) applied() bool {
	for _, l := range s.lasts {
		if l.seq > l.queue.applied {
			return false
		}
	}
	return true
}

// forget drops a removed segment, the oldest one, from the books.
func (j *Journal) forget(s *segment) {
	c := j.chain
	c.segments = c.segments[1:]
	c.total -= s.size
	for _, l := range s.lasts {
		l.queue.removed = max(l.queue.removed, l.seq)
	}
}

// dropApplied removes applied segments before their time, until there is
// enough (nil: all of them), and reports whether it removed any. mu is held.
func (j *Journal) dropApplied(enough func() bool) bool {
	dropped := false
	for enough == nil || !enough() {
		s := j.removable(true)
		if s == nil {
			break
		}
		if err := j.chain.remove(s); err != nil {
			j.log.Warn().Err(err).Msg("journal: old segment not removed")
			break
		}
		j.forget(s)
		dropped = true
	}
	if now := j.opts.Now(); dropped && (now.Sub(j.warnedFull) >= time.Minute || now.Before(j.warnedFull)) {
		j.warnedFull = now
		j.log.Warn().Dur("keep", j.opts.Keep).Int64("bytes", j.chain.total).
			Msg("journal: short of space, applied rows are dropped before journal.keep: a server that fails over may lack them")
	}
	return dropped
}
