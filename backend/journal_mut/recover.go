package journal

import (
	"fmt"
	"sort"
)

// load reads the whole journal in a locked directory. With damaged set it goes
// on behind damage.
func load(dir *directory, opts Options, damaged func(*DamageError)) (*Journal, error) {
	j := &Journal{
		opts: opts, log: opts.Logger, dir: dir,
		queues: make(map[QueueID]*queue), byName: make(map[string]*queue),
		shapes: make(map[ShapeID]*shape), byBlob: make(map[string]*shape),
		group: new(group),
	}
	j.cond.L = &j.mu
	c, err := newChain(dir, opts.SegmentBytes, opts.Sync, opts.Now, opts.boot(), damaged)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	j.chain = c
	r := recovery{j: j}
	if err := c.scan(j.log, r.visit, damaged); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	r.leave()
	j.visible = j.seq
	if s := c.newest(); s != nil {
		// After a crash, numbers beyond the last one seen may have been given
		// away and lost; none reached the limit.
		if j.seq = max(j.seq, s.header.base-1); !c.clean {
			j.seq = max(j.seq, s.header.limit-1)
		}
	}
	for _, q := range j.queues {
		if err := j.trim(q); err != nil {
			return nil, err
		}
		j.recovered = append(j.recovered, q.state())
	}
	sort.Slice(j.recovered, func(i, k int) bool { return j.recovered[i].ID < j.recovered[k].ID })
	return j, nil
}

// trim makes the counters of a queue exact where a window ends inside a stretch.
func (j *Journal) trim(q *queue) error {
	if len(q.stretches) == 0 || q.stretches[0].first > q.applied {
		return nil
	}
	s := &q.stretches[0]
	exact := stretch{last: s.last}
	err := j.Read(q.id, q.applied, s.last, func(r Record) error {
		if exact.records == 0 {
			exact.first, exact.oldest = r.Seq, r.Time
		}
		exact.add(tally{records: 1, rows: uint64(r.Rows), bytes: uint64(len(r.Body))})
		return nil
	})
	if err != nil {
		return err
	}
	q.open.sub(s.tally)
	q.open.add(exact.tally)
	*s = exact
	return nil
}

// recovery rebuilds a journal's state from its records.
type recovery struct {
	j  *Journal
	at *segment
}

// leave closes the books of the segment that was read last.
func (r *recovery) leave() {
	if r.at != nil {
		r.at.lasts = r.j.lastsIn(r.at)
	}
}

func (r *recovery) visit(s *segment, start int64, payload []byte) error {
	if s != r.at {
		r.leave()
		r.at = s
	}
	switch payload[0] {
	case kindRecord:
		return r.record(s, start, payload)
	case kindQueue:
		return r.queue(s, payload)
	case kindShape:
		return r.shape(s, payload)
	case kindSeal:
		w, err := decodeWindow(payload)
		if err != nil {
			return err
		}
		q, err := r.known(s, w.Queue)
		if err != nil {
			return err
		}
		// Windows are in order, so the one before was done, even if a power
		// loss took the record of it.
		q.sealed = nil
		q.apply(w.From)
		q.seal(w)
	case kindDone:
		id, window, to, err := decodeDone(payload)
		if err != nil {
			return err
		}
		q, err := r.known(s, id)
		if err != nil {
			return err
		}
		q.finish(window, to)
	case kindClose:
	default:
		return errMalformed
	}
	return nil
}

// known returns a queue that the segment has defined.
func (r *recovery) known(s *segment, id QueueID) (*queue, error) {
	q := r.j.queues[id]
	if q == nil || q.definedIn != s.number {
		return nil, errMalformed
	}
	return q, nil
}

func (r *recovery) record(s *segment, start int64, payload []byte) error {
	var rec Record
	if err := decodeRecord(payload, &rec); err != nil {
		return err
	}
	q, err := r.known(s, rec.Queue)
	if err != nil {
		return err
	}
	if sh := r.j.shapes[rec.Shape]; sh == nil || sh.definedIn != s.number {
		return errMalformed
	}
	if rec.Seq <= r.j.seq || rec.Seq < s.header.base || rec.Seq >= s.header.limit {
		return errMalformed
	}
	r.j.seq = rec.Seq
	q.grow(rec.Seq, rec.Rows, len(rec.Body), rec.Time)
	s.note(rec.Seq, start)
	return nil
}

func (r *recovery) queue(s *segment, payload []byte) error {
	d := decoder{b: payload[1:]}
	id, last, applied, window, name := QueueID(d.uint32()), d.uvarint(), d.uvarint(), d.uvarint(), string(d.bytes())
	if err := d.end(); err != nil {
		return err
	}
	q := r.j.queues[id]
	if q == nil {
		if r.j.byName[name] != nil {
			return errMalformed
		}
		// Records before this definition were in segments that are gone, and
		// segments go only when all in them was applied.
		q = &queue{id: id, name: name, last: last, removed: last, applied: max(applied, last), window: window}
		r.j.addQueue(q)
		r.j.lastQ = max(r.j.lastQ, id)
	}
	if q.name != name {
		return errMalformed
	}
	q.definedIn = s.number
	return nil
}

func (r *recovery) shape(s *segment, payload []byte) error {
	d := decoder{b: payload[1:]}
	id, blob := ShapeID(d.uint32()), d.bytes()
	if err := d.end(); err != nil {
		return err
	}
	sh := r.j.shapes[id]
	if sh == nil {
		if r.j.byBlob[string(blob)] != nil {
			return errMalformed
		}
		sh = &shape{id: id, blob: string(blob)}
		r.j.addShape(sh)
		r.j.lastS = max(r.j.lastS, id)
	}
	if sh.blob != string(blob) {
		return errMalformed
	}
	sh.definedIn = s.number
	return nil
}

// Summary is what Info and Verify found.
type Summary struct {
	ID       ID
	Bytes    int64
	Clean    bool // closed in order
	Shapes   int
	Segments []SegmentSummary
	Queues   []QueueState
	Damage   []*DamageError
}

// SegmentSummary is one segment file.
type SegmentSummary struct {
	Path    string
	Base    uint64 // its sequence numbers are >= Base
	Created int64  // unix seconds
	Bytes   int64
	Valid   int64 // bytes that count
	Void    bool  // its creation failed, it holds nothing
}

// Info describes a journal that no process uses, and changes nothing. Of the
// options it needs Dir, FS and Logger.
func Info(opts Options) (Summary, error) { return summarise(opts, nil) }

// Verify reads a journal that no process uses to its end and lists all damage
// in Summary.Damage. It changes nothing.
func Verify(opts Options) (Summary, error) {
	var damage []*DamageError
	sum, err := summarise(opts, func(e *DamageError) { damage = append(damage, e) })
	sum.Damage = damage
	return sum, err
}

func summarise(opts Options, damaged func(*DamageError)) (sum Summary, err error) {
	opts.setDefaults()
	dir, err := openDirectory(opts.FS, opts.Dir, "journal", false)
	if err != nil {
		return sum, err
	}
	defer func() { _ = dir.close() }()
	j, err := load(dir, opts, damaged)
	if err != nil {
		return sum, err
	}
	sum = Summary{ID: dir.id, Bytes: j.chain.total, Clean: j.chain.clean, Shapes: len(j.shapes), Queues: j.recovered}
	for _, s := range j.chain.segments {
		sum.Segments = append(sum.Segments, SegmentSummary{
			Path: s.path, Base: s.header.base, Created: s.header.created, Bytes: s.size, Valid: max(0, s.end), Void: s.void,
		})
	}
	return sum, nil
}
