package journal

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"
)

// RejectOptions of a reject log. Zero values mean the defaults.
type RejectOptions struct {
	Dir          string
	FS           vfs.FS // nil: the operating system's
	SegmentBytes int64  // 64 MiB
	// Keep is how long a segment stays after its last entry was dropped, so that
	// a replay of the journal does not reject the same statements anew. 24 h; it
	// must be longer than the journal's Keep.
	Keep   time.Duration
	Logger zerolog.Logger
	Now    func() time.Time

	boot func() ID
}

// Rejects is the durable log of refused statements. It is safe for concurrent
// use.
type Rejects struct {
	opts RejectOptions
	dir  *directory

	mu     sync.Mutex
	chain  *chain
	head   []byte
	id     uint64         // last one given away
	keys   map[ID]*seqSet // statements known, dropped ones included
	books  map[*segment]*rejectBook
	live   int
	closed bool
}

// OpenRejects locks the directory, creates it if there is none, and reads it.
func OpenRejects(opts RejectOptions) (*Rejects, error) {
	l, err := readRejects(opts, true)
	if err != nil {
		return nil, err
	}
	if err := l.chain.settleScanned(); err != nil {
		_ = l.dir.close()
		return nil, fmt.Errorf("rejects: %w", err)
	}
	if s := l.chain.newest(); s != nil {
		l.id = max(l.id, s.header.base-1)
	}
	l.compact()
	return l, nil
}

// CheckRejects reads a directory that is there as OpenRejects would, and changes nothing.
func CheckRejects(opts RejectOptions) error {
	l, err := readRejects(opts, false)
	if err != nil {
		return err
	}
	return l.dir.close()
}

func readRejects(opts RejectOptions, create bool) (*Rejects, error) {
	if opts.SegmentBytes <= 0 {
		opts.SegmentBytes = 64 << 20
	}
	if opts.Keep == 0 {
		opts.Keep = 24 * time.Hour
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.boot == nil {
		opts.boot = bootID
	}
	dir, err := openDirectory(opts.FS, opts.Dir, "rejects", create)
	if err != nil {
		return nil, err
	}
	l := &Rejects{
		opts: opts, dir: dir,
		keys: make(map[ID]*seqSet), books: make(map[*segment]*rejectBook),
	}
	l.chain, err = newChain(dir, opts.SegmentBytes, SyncAlways, opts.Now, opts.boot(), nil)
	if err == nil {
		err = l.chain.scan(opts.Logger, l.visit, nil)
	}
	if err != nil {
		_ = dir.close()
		return nil, fmt.Errorf("rejects: %w", err)
	}
	return l, nil
}

// Append writes an entry; see AppendAll.
func (l *Rejects) Append(r Reject) error {
	_, err := l.AppendAll([]Reject{r})
	return err
}

// AppendAll writes entries, all or none, and returns when they are on stable
// storage. Statements that are in the log already, by journal and sequence
// number, are left out, also those dropped since; added counts the others.
func (l *Rejects) AppendAll(rejects []Reject) (added int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	type key struct {
		journal ID
		seq     uint64
	}
	batch := make(map[key]bool, len(rejects))
	var fresh []Reject
	for _, r := range rejects {
		k := key{r.Journal, r.Seq}
		set := l.keys[r.Journal]
		if r.Seq != 0 && (batch[k] || (set != nil && set.has(r.Seq))) {
			continue
		}
		batch[k] = true
		fresh = append(fresh, r)
	}
	if len(fresh) == 0 {
		return 0, l.usable()
	}
	starts := make([]int64, len(fresh))
	id := l.id
	err = l.write(func(c *chain) error {
		for i := range fresh {
			id++
			fresh[i].ID = id
			l.head = appendReject(l.head[:0], &fresh[i])
			starts[i] = recordStart(c.writer.Size())
			if err := c.add(l.head, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for i := range fresh {
		l.note(l.chain.active, starts[i], &fresh[i])
	}
	return len(fresh), nil
}

// Has reports whether a journaled statement was rejected, also if its entry was
// dropped since. Who tries a window again leaves such statements out: they must
// not be on the server as well.
func (l *Rejects) Has(journal ID, seq uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	set := l.keys[journal]
	return set != nil && set.has(seq)
}

// Drop takes entries out of the log, and returns how many of them there were.
func (l *Rejects) Drop(ids ...uint64) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := make([]uint64, 0, len(ids))
	seen := make(map[uint64]bool, len(ids))
	for _, id := range ids {
		if l.has(id) && !seen[id] {
			seen[id] = true
			known = append(known, id)
		}
	}
	if len(known) == 0 {
		return 0, l.usable()
	}
	at := l.opts.Now().Unix()
	err := l.write(func(c *chain) error { return c.add(appendDrop(nil, at, known), nil) })
	if err != nil {
		return 0, err
	}
	for _, id := range known {
		l.drop(id, at)
	}
	l.compact()
	return len(known), nil
}

func (l *Rejects) usable() error {
	if l.closed {
		return fmt.Errorf("rejects: %w", ErrClosed)
	}
	return nil
}

// write adds records to the active segment and syncs it. If that fails the
// segment ends where it ended before.
func (l *Rejects) write(add func(*chain) error) error {
	if err := l.usable(); err != nil {
		return err
	}
	c := l.chain
	if c.active != nil && c.active.end >= l.opts.SegmentBytes {
		if err := c.closeActive(); err != nil {
			l.opts.Logger.Warn().Err(err).Msg("rejects: close")
		}
	}
	if c.active == nil {
		if err := c.create(l.id + 1); err != nil {
			return fmt.Errorf("rejects: %w", err)
		}
	}
	s := c.active
	before := s.end
	err := add(c)
	if err == nil {
		err = c.flush()
	}
	if err == nil {
		if err = c.file.SyncData(); err != nil {
			err = writeError("fsync", s.path, err)
		}
	}
	if err == nil {
		s.synced = s.end
		return nil
	}
	err = fmt.Errorf("rejects: %w", err)
	s.end = before
	if cerr := c.closeActive(); cerr != nil {
		l.opts.Logger.Warn().Err(cerr).Msg("rejects: close")
	}
	if cerr := c.create(l.id + 1); cerr != nil {
		err = errors.Join(err, fmt.Errorf("%w: %w", ErrUncertain, cerr))
	}
	return err
}

// List calls fn for all entries, oldest first. Statement and State are valid
// during the call only. An error of fn ends List and is returned as it is.
func (l *Rejects) List(fn func(Reject) error) error {
	return l.list(1, math.MaxUint64, fn)
}

// Get returns one entry.
func (l *Rejects) Get(id uint64) (Reject, error) {
	var found Reject
	err := l.list(id, id, func(r Reject) error {
		found = r
		found.Statement, found.State = bytes.Clone(r.Statement), bytes.Clone(r.State)
		return nil
	})
	if err == nil && found.ID == 0 {
		err = fmt.Errorf("rejects: %w entry %d", ErrUnknown, id)
	}
	return found, err
}

func (l *Rejects) list(first, last uint64, fn func(Reject) error) error {
	l.mu.Lock()
	if err := l.usable(); err != nil {
		l.mu.Unlock()
		return err
	}
	last = min(last, l.id)
	if first == 0 || first > last {
		l.mu.Unlock()
		return nil
	}
	spans := l.chain.spans(first-1, last)
	l.mu.Unlock()
	defer release(&l.mu, spans)
	err := l.dir.walkSpans(spans, math.MaxInt, func(payload []byte, _ func() ([]byte, error)) error {
		if payload[0] != kindReject {
			return nil
		}
		var r Reject
		if err := decodeReject(payload, &r); err != nil {
			return err
		}
		if r.ID > last {
			return errStop
		}
		l.mu.Lock()
		ok := r.ID >= first && l.has(r.ID)
		l.mu.Unlock()
		if !ok {
			return nil
		}
		if err := fn(r); err != nil {
			return callbackError{err}
		}
		return nil
	})
	return err
}

// Len returns the number of entries.
func (l *Rejects) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.live
}

// ID returns the identity of the reject log.
func (l *Rejects) ID() ID { return l.dir.id }

// Bytes returns the size on disk.
func (l *Rejects) Bytes() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.chain.total
}

// Close releases the directory.
func (l *Rejects) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	err := l.chain.closeActive()
	return errors.Join(err, l.dir.close())
}
