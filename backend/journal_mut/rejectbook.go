package journal

import (
	"math"
	"slices"
	"time"
)

// visit takes up one record at Open.
func (l *Rejects) visit(s *segment, start int64, payload []byte) error {
	switch payload[0] {
	case kindReject:
		var r Reject
		if err := decodeReject(payload, &r); err != nil {
			return err
		}
		if r.ID <= l.id {
			return errMalformed
		}
		l.note(s, start, &r)
	case kindDrop:
		at, ids, err := decodeDrop(payload)
		if err != nil {
			return err
		}
		for _, id := range ids {
			l.drop(id, at)
		}
	case kindClose:
	default:
		return errMalformed
	}
	return nil
}

// note counts an entry.
func (l *Rejects) note(s *segment, start int64, r *Reject) {
	l.id = r.ID
	s.note(r.ID, start)
	b := l.books[s]
	if b == nil {
		b = &rejectBook{first: r.ID}
		l.books[s] = b
	}
	b.last = r.ID
	b.live++
	l.live++
	if r.Seq != 0 {
		set := l.keys[r.Journal]
		if set == nil {
			set = new(seqSet)
			l.keys[r.Journal] = set
		}
		set.add(r.Seq)
	}
}

// rejectBook is the account of one segment.
type rejectBook struct {
	first, last uint64 // its entries
	live        int
	gone        []uint64 // bit i: entry first+i was dropped
	lastDrop    int64
}

// dropped reports whether an entry of the segment was dropped.
func (b *rejectBook) dropped(id uint64) bool {
	i := id - b.first
	return i/64 < uint64(len(b.gone)) && b.gone[i/64]&(1<<(i%64)) != 0
}

// book returns the account that an entry is in, or nil.
func (l *Rejects) book(id uint64) *rejectBook {
	for _, b := range l.books {
		if b.first <= id && id <= b.last {
			return b
		}
	}
	return nil
}

// has reports whether there is an entry that was not dropped.
func (l *Rejects) has(id uint64) bool {
	b := l.book(id)
	return b != nil && !b.dropped(id)
}

// drop notes that an entry was dropped.
func (l *Rejects) drop(id uint64, at int64) {
	b := l.book(id)
	if b == nil || b.dropped(id) {
		return
	}
	i := id - b.first
	for uint64(len(b.gone)) <= i/64 {
		b.gone = append(b.gone, 0)
	}
	b.gone[i/64] |= 1 << (i % 64)
	b.live--
	b.lastDrop = max(b.lastDrop, at)
	l.live--
}

// compact removes the oldest segments while nothing in them is needed: a drop
// is never older than what it drops, so nothing comes back.
func (l *Rejects) compact() {
	c := l.chain
	for len(c.segments) > 0 {
		s := c.segments[0]
		newest := c.newest()
		if s == newest || newest == nil || s.number > newest.number || s.readers > 0 {
			return
		}
		b := l.books[s]
		if b != nil && (b.live > 0 || l.opts.Now().Unix()-b.lastDrop < int64(l.opts.Keep/time.Second)) {
			return
		}
		keys, err := l.keysOf(s)
		if err != nil {
			l.opts.Logger.Warn().Err(err).Msg("rejects: old segment not removed")
			return
		}
		if err := c.remove(s); err != nil {
			l.opts.Logger.Warn().Err(err).Msg("rejects: old segment not removed")
			return
		}
		for _, r := range keys {
			if set := l.keys[r.Journal]; set != nil {
				set.remove(r.Seq)
			}
		}
		delete(l.books, s)
		c.segments = c.segments[1:]
		c.total -= s.size
	}
}

// keysOf reads the identities of the entries in a segment.
func (l *Rejects) keysOf(s *segment) (keys []Reject, err error) {
	err = l.dir.walkSpans([]span{{s: s, end: s.end}}, math.MaxInt, func(payload []byte, _ func() ([]byte, error)) error {
		if payload[0] != kindReject {
			return nil
		}
		var r Reject
		if err := decodeReject(payload, &r); err != nil {
			return err
		}
		keys = append(keys, Reject{ID: r.ID, Journal: r.Journal, Seq: r.Seq})
		return nil
	})
	return keys, err
}

// seqSet is a set of sequence numbers that mostly grow.
type seqSet []uint64

func (s seqSet) has(seq uint64) bool {
	_, found := slices.BinarySearch(s, seq)
	return found
}

func (s *seqSet) add(seq uint64) {
	if i, found := slices.BinarySearch(*s, seq); !found {
		*s = slices.Insert(*s, i, seq)
	}
}

func (s *seqSet) remove(seq uint64) {
	if i, found := slices.BinarySearch(*s, seq); found {
		*s = slices.Delete(*s, i, i+1)
	}
}
