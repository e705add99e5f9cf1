package journal

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"
)

// visitor gets each record of a chain in order, headers left out.
type visitor func(s *segment, start int64, payload []byte) error

// newChain reads the headers of all segments and checks that none is missing.
// With damaged set it hands damage to it and goes on, else it stops.
func newChain(d *directory, segmentBytes int64, mode SyncMode, now func() time.Time, boot ID,
	damaged func(*DamageError),
) (*chain, error) {
	c := &chain{directory: d, segmentBytes: segmentBytes, mode: mode, now: now, boot: boot, next: 1}
	numbers, err := d.segmentNumbers()
	if err != nil {
		return nil, err
	}
	report := func(e *DamageError) error {
		if damaged == nil {
			return e
		}
		damaged(e)
		return nil
	}
	var unread []*segment // without a readable header, since the last one with
	for _, n := range numbers {
		s := &segment{number: n, path: d.fs.PathJoin(d.path, segmentName(n)), end: -1}
		c.next = n + 1
		readable, err := c.readHeader(s)
		if err != nil {
			var e *DamageError
			if !errors.As(err, &e) {
				return nil, err
			}
			if err := report(e); err != nil {
				return nil, err
			}
			continue
		}
		c.total += s.size
		if !readable {
			unread = append(unread, s)
			continue
		}
		if err := c.link(s, unread, report); err != nil {
			return nil, err
		}
		c.segments = append(c.segments, s)
		unread = nil
	}
	for _, s := range unread {
		// The newest file: a creation that a crash cut short holds nothing that
		// was acknowledged, since records follow only a synced header.
		if err := c.voidHeader(s); err != nil {
			var e *DamageError
			if !errors.As(err, &e) {
				return nil, err
			}
			if err := report(e); err != nil {
				return nil, err
			}
		}
		c.addVoid(s)
		c.ends = append(c.ends, segmentEnd{number: s.number})
	}
	return c, nil
}

// readHeader reads the first record of a segment. It reports false when there
// is none that can be read.
func (c *chain) readHeader(s *segment) (bool, error) {
	f, err := c.fs.Open(s.path)
	if err != nil {
		return false, fmt.Errorf("open %s: %w", s.path, err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return false, fmt.Errorf("read %s: %w", s.path, err)
	}
	s.size = info.Size()
	w := newWalker(f, 0, s.size, nil)
	payload, err := w.next()
	if err == nil {
		s.header, err = decodeHeader(payload)
	} else if errors.Is(err, io.EOF) || unreadable(err) {
		return false, nil
	}
	switch {
	case errors.Is(err, errMalformed):
		return false, &DamageError{Path: s.path, Reason: "it begins with something else than a segment header"}
	case err != nil:
		return false, fmt.Errorf("read %s: %w", s.path, err)
	case s.header.kind != c.kind || s.header.id != c.id:
		return false, &DamageError{Path: s.path, Reason: fmt.Sprintf("it belongs to %s %s, not to %s %s", s.header.kind, s.header.id, c.kind, c.id)}
	case s.header.number != s.number:
		return false, &DamageError{Path: s.path, Reason: fmt.Sprintf("its header says that it is %s", segmentName(s.header.number))}
	}
	return true, nil
}

// link applies what a header says about the segments before it.
func (c *chain) link(s *segment, unread []*segment, report func(*DamageError) error) error {
	void := make(map[uint64]bool)
	for _, e := range s.header.ends {
		if e.end == 0 {
			void[e.number] = true
		}
	}
	for _, u := range unread {
		if !void[u.number] {
			if err := report(&DamageError{Path: u.path, Reason: "the segment header cannot be read"}); err != nil {
				return err
			}
		}
		c.addVoid(u)
	}
	last := c.newest()
	if last == nil {
		return nil
	}
	for _, e := range s.header.ends {
		if e.number == last.number {
			last.end = e.end
			return nil
		}
	}
	return report(&DamageError{Path: s.path, Reason: fmt.Sprintf("the segment before it is missing: it is not %s", segmentName(last.number))})
}

// voidHeader makes sure that a segment without a header holds nothing.
func (c *chain) voidHeader(s *segment) error {
	f, err := c.fs.Open(s.path)
	if err != nil {
		return fmt.Errorf("open %s: %w", s.path, err)
	}
	defer func() { _ = f.Close() }()
	s.end = 0
	t, err := examine(f, 0, s.size)
	if err != nil {
		return fmt.Errorf("read %s: %w", s.path, err)
	}
	// Whether the machine was restarted is written in the header; without it,
	// zeros are taken for what a power loss leaves.
	if reason, lost := t.lost(s, t.zeros && !t.found); lost {
		return &DamageError{Path: s.path, Reason: "the segment header cannot be read: " + reason, Last: true}
	}
	return nil
}

// scan calls visit for each record of the chain, and finds where the newest
// segment ends. With damaged set, the rest of a damaged segment is left out.
func (c *chain) scan(log zerolog.Logger, visit visitor, damaged func(*DamageError)) error {
	newest := c.newest()
	for _, s := range c.segments {
		if s.void {
			continue
		}
		err := c.scanSegment(s, s == newest || s.end < 0, log, visit)
		var e *DamageError
		if errors.As(err, &e) && damaged != nil {
			damaged(e)
			continue
		}
		if err != nil {
			return err
		}
	}
	if newest != nil {
		c.ends = append([]segmentEnd{{number: newest.number, end: newest.end}}, c.ends...)
	}
	return nil
}

func (c *chain) scanSegment(s *segment, newest bool, log zerolog.Logger, visit visitor) error {
	f, err := c.fs.Open(s.path, vfs.SequentialReadsOption)
	if err != nil {
		return fmt.Errorf("open %s: %w", s.path, err)
	}
	defer func() { _ = f.Close() }()
	limit := s.size
	if !newest {
		limit = min(limit, s.end)
	}
	good, err := c.visitAll(s, f, limit, visit)
	if err != nil && !unreadable(err) {
		return err
	}
	rebooted := s.header.boot != c.boot || c.boot == ID{}
	claimed := s.end
	s.end = good
	switch {
	case errors.Is(err, errMalformed):
		return &DamageError{Path: s.path, Offset: good, Reason: "a record that this version did not write", Last: newest}
	case newest:
		if good < s.size {
			return c.judge(s, f, rebooted, log)
		}
	case good < claimed:
		// A process that syncs closes a segment synced. One that never does (mode
		// os) may lose its end in a power loss.
		if s.header.mode != SyncOS || !rebooted {
			reason := "checksum mismatch"
			if s.size < claimed {
				reason = fmt.Sprintf("it has %d bytes, the segment after it says %d", s.size, claimed)
			}
			return &DamageError{Path: s.path, Offset: good, Reason: reason}
		}
		log.Warn().Str("segment", s.path).Int64("offset", good).Int64("end", claimed).
			Msg("journal: acknowledged records were lost with a power loss (journal.sync is os)")
	}
	s.synced = s.end
	return nil
}

// visitAll visits the records up to limit and returns where the last good one
// ends.
func (c *chain) visitAll(s *segment, f vfs.File, limit int64, visit visitor) (good int64, err error) {
	w := newWalker(f, 0, limit, nil)
	for first := true; ; first = false {
		start := recordStart(good)
		payload, err := w.next()
		if errors.Is(err, io.EOF) {
			return good, nil
		}
		if err != nil {
			if !unreadable(err) {
				err = fmt.Errorf("read %s: %w", s.path, err)
			}
			return good, err
		}
		c.clean = len(payload) > 0 && payload[0] == kindClose
		if !first {
			if len(payload) == 0 {
				return good, errMalformed
			}
			if err := visit(s, start, payload); err != nil {
				return good, err
			}
		}
		good = w.offset()
	}
}

// judge decides on what is behind the end of the newest segment.
func (c *chain) judge(s *segment, f vfs.File, rebooted bool, log zerolog.Logger) error {
	t, err := examine(f, s.end, s.size)
	if err != nil {
		return fmt.Errorf("read %s: %w", s.path, err)
	}
	if reason, lost := t.lost(s, rebooted); lost {
		return &DamageError{Path: s.path, Offset: s.end, Reason: reason, Last: true}
	}
	c.clean = false
	what := "the last record was not completed before a crash and is dropped; it was never acknowledged"
	if rebooted {
		what = "the machine went down before the end of the journal was synced; what is incomplete is dropped"
	}
	log.Warn().Str("segment", s.path).Int64("offset", s.end).Int64("bytes", s.size-s.end).Msg("journal: " + what)
	return nil
}

// settleScanned makes durable what was read: a process that crashed may have
// left it in the page cache only, and from now on it is relied upon.
func (c *chain) settleScanned() error {
	s := c.newest()
	if s == nil {
		return nil
	}
	f, err := c.fs.Open(s.path)
	if err != nil {
		return fmt.Errorf("open %s: %w", s.path, err)
	}
	err = nil
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return writeError("fsync", s.path, err)
	}
	return nil
}
