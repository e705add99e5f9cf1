package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// entry is a record that was written and is yet to be acknowledged.
type entry struct {
	queue *queue
	seq   uint64
	rows  uint32
	bytes int
	time  int64
}

// Append writes a record and returns its sequence number once it is as durable
// as the mode says. With an error the record is void (but see ErrUncertain).
// r.Seq is ignored; r.Body is not kept.
func (j *Journal) Append(r Record) (uint64, error) {
	if len(r.Body) > MaxBody {
		return 0, fmt.Errorf("journal: record of %d bytes is too long", len(r.Body))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	q, s := j.queues[r.Queue], j.shapes[r.Shape]
	if q == nil || s == nil {
		return 0, fmt.Errorf("journal: append: %w queue %d or shape %d", ErrUnknown, r.Queue, r.Shape)
	}
	need := int64(len(r.Body) + recordHeadMax)
	if err := j.admit(need); err != nil {
		return 0, err
	}
	if err := j.ready(need); err != nil {
		return 0, err
	}
	c := j.chain
	// The number is spent even if the write fails: its bytes may be on disk.
	j.seq++
	e := entry{queue: q, seq: j.seq, rows: r.Rows, bytes: len(r.Body), time: r.Time}
	err := j.define(q, s)
	start := recordStart(c.writer.Size())
	if err == nil {
		j.head = appendRecordHead(j.head[:0], &r, e.seq, c.active.synced)
		err = c.add(j.head, r.Body)
	}
	if err == nil {
		err = c.flush()
	}
	if err != nil {
		return 0, j.writeFailed(fmt.Errorf("journal: %w", err))
	}
	c.active.note(e.seq, start)
	if j.opts.Sync != SyncAlways {
		j.publish(&e)
		return e.seq, nil
	}
	j.pending = append(j.pending, e)
	if err := j.await(j.group); err != nil {
		return 0, err
	}
	return e.seq, nil
}

// publish counts a record as acknowledged.
func (j *Journal) publish(e *entry) {
	e.queue.grow(e.seq, e.rows, e.bytes, e.time)
	j.visible = e.seq
}

// admit refuses records above the bounds. Windows are never refused: they are
// the way out.
func (j *Journal) admit(need int64) error {
	if j.lowSpace {
		j.dropApplied(nil)
		return fmt.Errorf("journal: %w: less than %d bytes are free in %s", ErrDiskFull, j.opts.MinFree, j.dir.path)
	}
	if j.opts.MaxBytes <= 0 || j.chain.total+need <= j.opts.MaxBytes {
		return nil
	}
	// Rows that wait are worth more than rows kept for a fail-over.
	fits := func() bool { return j.chain.total+need <= j.opts.MaxBytes }
	if j.dropApplied(fits); fits() {
		return nil
	}
	return fmt.Errorf("journal: %w: %d of at most %d bytes are in use (journal.max_bytes)", ErrFull, j.chain.total, j.opts.MaxBytes)
}

// ready makes sure that there is an active segment with room. mu is held, and
// may be given up and taken again.
func (j *Journal) ready(need int64) error {
	for {
		c := j.chain
		switch {
		case j.closed:
			return ErrClosed
		case j.failed != nil:
			return j.failed
		case c.active == nil:
			return j.newSegment()
		case !c.broken && (c.active.end+need <= j.opts.SegmentBytes || c.active.end == c.active.start):
			return nil
		case j.syncing:
			j.cond.Wait()
		default:
			if err := j.settle(false); err != nil {
				return err
			}
		}
	}
}

// newSegment opens a segment for the numbers from here on.
func (j *Journal) newSegment() error {
	err := j.chain.create(j.seq + 1)
	if errors.Is(err, ErrDiskFull) && j.dropApplied(nil) {
		err = j.chain.create(j.seq + 1)
	}
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// define writes what a segment must say about a queue and a shape, nil for
// none, before it uses them.
func (j *Journal) define(q *queue, s *shape) error {
	c := j.chain
	if q.definedIn != c.active.number {
		b := append(j.head[:0], kindQueue)
		b = binary.AppendUvarint(b, uint64(q.id))
		b = binary.AppendUvarint(b, q.last)
		b = binary.AppendUvarint(b, q.applied)
		b = binary.AppendUvarint(b, q.window)
		b = appendString(b, q.name)
		j.head = b
		if err := c.add(b, nil); err != nil {
			return err
		}
		q.definedIn = c.active.number
	}
	if s != nil && s.definedIn != c.active.number {
		b := append(j.head[:0], kindShape)
		b = binary.AppendUvarint(b, uint64(s.id))
		b = appendString(b, s.blob)
		j.head = b
		if err := c.add(b, nil); err != nil {
			return err
		}
		s.definedIn = c.active.number
	}
	return nil
}

// writeFailed abandons the broken tail at once, so that no crash can bring it
// back. mu is held, and may be given up and taken again.
func (j *Journal) writeFailed(err error) error {
	j.log.Error().Err(err).Msg("journal: write failed")
	c := j.chain
	for c.broken && j.syncing {
		j.cond.Wait()
	}
	if c.broken {
		if serr := j.settle(false); serr != nil {
			return errors.Join(err, serr)
		}
	}
	return j.confirmAbandoned(err)
}

// confirmAbandoned makes the next header say what was abandoned. If that fails,
// the outcome of what was abandoned is not certain.
func (j *Journal) confirmAbandoned(err error) error {
	if j.chain.active != nil || j.failed != nil || j.closed {
		return err
	}
	if cerr := j.newSegment(); cerr != nil {
		return errors.Join(err, fmt.Errorf("%w: %w", ErrUncertain, cerr))
	}
	return err
}

// settle closes the active segment. What it holds is synced first, except in
// mode os, where only Close asks for it (sync). mu is held, no sync is running.
func (j *Journal) settle(sync bool) error {
	c := j.chain
	s := c.active
	if s == nil {
		return j.failed
	}
	var err error
	if (sync || j.opts.Sync != SyncOS) && s.end > s.synced {
		start := time.Now()
		err = c.file.SyncData()
		j.syncs++
		j.lastSync = time.Since(start)
		if err != nil {
			return j.syncFailed(err)
		}
		s.synced = s.end
		j.publishPending(len(j.pending))
	}
	j.finish(nil)
	j.closeSegment()
	return nil
}

// closeSegment ends the active segment where it is.
func (j *Journal) closeSegment() {
	s := j.chain.active
	s.lasts = j.lastsIn(s)
	if err := j.chain.closeActive(); err != nil {
		// Everything that counts was written and synced before.
		j.log.Warn().Err(err).Str("segment", s.path).Msg("journal: close")
	}
}

// lastsIn returns the last record of each queue that a segment names.
func (j *Journal) lastsIn(s *segment) []queueLast {
	var lasts []queueLast
	for _, q := range j.queues {
		if q.definedIn == s.number {
			lasts = append(lasts, queueLast{queue: q, seq: q.last})
		}
	}
	return lasts
}
