package journal

import (
	"fmt"
	"time"
)

// group is what was written between the beginnings of two syncs. One of those
// who wait for it syncs for all of them.
type group struct {
	done bool
	err  error
}

// await returns when a group is on stable storage. mu is held, and given up
// during the sync.
func (j *Journal) await(g *group) error {
	for !g.done {
		if j.syncing {
			j.cond.Wait()
			continue
		}
		j.syncGroup()
	}
	return g.err
}

// syncGroup makes everything written so far durable, while others go on
// writing. mu is held, and given up during the sync; no sync is running and
// there is an active segment.
func (j *Journal) syncGroup() {
	c := j.chain
	s, file, end := c.active, c.file, c.active.end
	g, n := j.group, len(j.pending)
	j.group = new(group)
	j.syncing = true
	j.mu.Unlock()
	start := time.Now()
	err := file.SyncData()
	took := time.Since(start)
	j.mu.Lock()
	j.syncing = false
	j.syncs++
	j.lastSync = took
	if err != nil {
		g.err = j.syncFailed(err)
	} else {
		s.synced = end
		j.publishPending(n)
	}
	g.done = true
	j.cond.Broadcast()
}

// publishPending acknowledges the first n records that wait.
func (j *Journal) publishPending(n int) {
	for i := range j.pending[:n] {
		j.publish(&j.pending[i])
	}
	j.pending = j.pending[:copy(j.pending, j.pending[n:])]
}

// finish ends the current group, whose records were settled with err.
func (j *Journal) finish(err error) {
	j.group.done, j.group.err = true, err
	j.group = new(group)
	j.cond.Broadcast()
}

// syncFailed handles a failed fsync of the active segment. The kernel drops
// what it could not write and reports it once: nothing written since the last
// good sync can be relied on.
func (j *Journal) syncFailed(err error) error {
	c := j.chain
	s := c.active
	err = fmt.Errorf("journal: %w", writeError("fsync", s.path, err))
	j.log.Error().Err(err).Msg("journal: fsync failed")
	if j.opts.Sync == SyncAlways {
		// Nobody was told yet. The segment ends where it was synced.
		s.end = s.synced
		j.pending = j.pending[:0]
		j.closeSegment()
		err = j.confirmAbandoned(err)
	} else {
		j.failed = fmt.Errorf("%w: an fsync failed, so records acknowledged before may not survive a power loss; check the disk and restart sluice: %w", ErrFailed, err)
		err = j.failed
	}
	j.finish(err)
	return err
}
