package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"
)

// SyncMode says what an acknowledgement survives.
type SyncMode uint8

// The modes, from the safest on.
const (
	SyncAlways      SyncMode = iota // power loss: a group fsync before each acknowledgement
	SyncEverySecond                 // crash of the process; power loss takes at most the last second
	SyncOS                          // crash of the process
)

var syncModes = []string{"always", "1s", "os"}

// String returns the word used in the configuration.
func (m SyncMode) String() string {
	if int(m) < len(syncModes) {
		return syncModes[m]
	}
	return fmt.Sprintf("sync mode %d", uint8(m))
}

// ParseSyncMode reads the word used in the configuration.
func ParseSyncMode(s string) (SyncMode, error) {
	for i, word := range syncModes {
		if s == word {
			return SyncMode(i), nil
		}
	}
	return 0, fmt.Errorf("sync mode %q: want always, 1s or os", s)
}

// Options of a journal. Zero values of the sizes and times mean the defaults.
type Options struct {
	Dir          string
	FS           vfs.FS // nil: the operating system's
	Sync         SyncMode
	SegmentBytes int64         // 64 MiB
	MaxBytes     int64         // Append gives ErrFull above it; 0: no bound
	MinFree      int64         // Append gives ErrDiskFull with less free space; 64 MiB, < 0: off
	Keep         time.Duration // how long applied segments stay; 10 min, < 0: not at all
	Logger       zerolog.Logger
	Now          func() time.Time

	boot func() ID // identity of the machine's boot, for tests
}

func (o *Options) setDefaults() {
	if o.SegmentBytes <= 0 {
		o.SegmentBytes = 64 << 20
	}
	if o.MinFree == 0 {
		o.MinFree = 64 << 20
	}
	if o.Keep == 0 {
		o.Keep = 10 * time.Minute
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.boot == nil {
		o.boot = bootID
	}
}

// Journal is the durable log of acknowledged statements. All methods are safe
// for concurrent use; Seal and Done of one queue must come from one caller at a
// time.
type Journal struct {
	opts Options
	log  zerolog.Logger
	dir  *directory

	mu    sync.Mutex
	cond  sync.Cond // a sync ended, or a reader left
	chain *chain
	head  []byte // scratch for record heads

	seq     uint64 // last one given away
	visible uint64 // last one acknowledged
	queues  map[QueueID]*queue
	byName  map[string]*queue
	shapes  map[ShapeID]*shape
	byBlob  map[string]*shape
	lastQ   QueueID
	lastS   ShapeID

	group   *group  // of what was written since the last sync began
	pending []entry // mode always: written, not yet acknowledged
	syncing bool    // a sync runs without the lock

	failed     error // for good
	closed     bool
	lowSpace   bool // less than MinFree
	removing   bool // a segment is being removed without the lock
	syncs      uint64
	lastSync   time.Duration
	recovered  []QueueState
	warnedFull time.Time

	stop func()        // ends run
	done chan struct{} // run has ended
}

// shape is the part of statements that is the same for many records.
type shape struct {
	id        ShapeID
	blob      string
	definedIn uint64
}

// Open locks the directory, reads all of the journal and makes it ready for
// Append. It creates the directory if there is none. The first segment of this
// process is created by the first Append.
func Open(opts Options) (*Journal, error) {
	opts.setDefaults()
	dir, err := openDirectory(opts.FS, opts.Dir, "journal", true)
	if err != nil {
		return nil, err
	}
	j, err := load(dir, opts, nil)
	if err == nil {
		if err = j.chain.settleScanned(); err != nil {
			err = fmt.Errorf("journal: %w", err)
		}
	}
	if err != nil {
		_ = dir.close()
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	j.stop, j.done = cancel, make(chan struct{})
	go j.run(ctx)
	return j, nil
}

// run is the journal's own goroutine, owned and awaited by Close.
func (j *Journal) run(ctx context.Context) {
	defer close(j.done)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			j.tick()
		}
	}
}

// tick does what is due every second.
func (j *Journal) tick() {
	low := j.spaceIsLow()
	j.mu.Lock()
	if low != j.lowSpace {
		j.lowSpace = low
		j.log.Warn().Bool("low", low).Int64("min_free", j.opts.MinFree).Str("dir", j.dir.path).
			Msg("journal: free space on the file system")
	}
	if c := j.chain; j.opts.Sync == SyncEverySecond && j.failed == nil && !j.syncing &&
		c.active != nil && c.active.end > c.active.synced {
		j.syncGroup()
	}
	j.mu.Unlock()
	j.retain()
}

// spaceIsLow asks the file system. Where it does not tell, nothing is low.
func (j *Journal) spaceIsLow() bool {
	if j.opts.MinFree < 0 {
		return false
	}
	usage, err := j.dir.fs.GetDiskUsage(j.dir.path)
	return err == nil && usage.TotalBytes > 0 && usage.AvailBytes < uint64(j.opts.MinFree)
}

// Close syncs, in every mode, what was appended, and releases the directory.
func (j *Journal) Close() error {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return nil
	}
	j.closed = true
	j.mu.Unlock()
	j.stop()
	<-j.done

	j.mu.Lock()
	defer j.mu.Unlock()
	for j.syncing {
		j.cond.Wait()
	}
	var err error
	if c := j.chain; c.active != nil {
		if !c.broken && j.failed == nil {
			// The mark says that no sequence number beyond was ever given away.
			if err = c.add([]byte{kindClose}, nil); err == nil {
				err = c.flush()
			}
		}
		err = errors.Join(err, j.settle(true))
		if c.active != nil {
			j.closeSegment()
		}
	}
	return errors.Join(err, j.dir.close())
}

// ID returns the identity of the journal.
func (j *Journal) ID() ID { return j.dir.id }

// Queue returns the id of a queue, the same for the same name. A new queue is
// written to the log with its first record.
func (j *Journal) Queue(name string) (QueueID, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if q := j.byName[name]; q != nil {
		return q.id, nil
	}
	if j.closed {
		return 0, ErrClosed
	}
	j.lastQ++
	j.addQueue(&queue{id: j.lastQ, name: strings.Clone(name)})
	return j.lastQ, nil
}

func (j *Journal) addQueue(q *queue) {
	j.queues[q.id], j.byName[q.name] = q, q
}

// Shape returns the id of a shape, the same for the same blob. It stays in
// memory as long as the journal is open.
func (j *Journal) Shape(blob []byte) (ShapeID, error) {
	if len(blob) > MaxBody {
		return 0, fmt.Errorf("journal: shape of %d bytes is too long", len(blob))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if s := j.byBlob[string(blob)]; s != nil {
		return s.id, nil
	}
	if j.closed {
		return 0, ErrClosed
	}
	j.lastS++
	j.addShape(&shape{id: j.lastS, blob: string(blob)})
	return j.lastS, nil
}

func (j *Journal) addShape(s *shape) {
	j.shapes[s.id], j.byBlob[s.blob] = s, s
}

// ShapeBlob returns a copy of a shape's blob, nil if there is no such shape.
func (j *Journal) ShapeBlob(id ShapeID) []byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	if s := j.shapes[id]; s != nil {
		return []byte(s.blob)
	}
	return nil
}

// Recovered returns the queues as Open found them, in order of their ids.
func (j *Journal) Recovered() []QueueState {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]QueueState(nil), j.recovered...)
}

// Stats describes the journal at one moment.
type Stats struct {
	Bytes            int64 // on disk
	Segments         int
	Queues, Shapes   int
	LastSeq          uint64
	UnappliedRecords uint64 // a little too many where a window ends between appends
	UnappliedRows    uint64
	UnappliedBytes   uint64 // of record bodies
	Oldest           time.Time
	Syncs            uint64
	LastSync         time.Duration
	LowSpace         bool
	Failed           error // why the journal takes nothing more, nil if it does
}

// Stats returns counters and gauges.
func (j *Journal) Stats() Stats {
	j.mu.Lock()
	defer j.mu.Unlock()
	st := Stats{
		Bytes: j.chain.total, Segments: len(j.chain.segments), Queues: len(j.queues), Shapes: len(j.shapes),
		LastSeq: j.visible, Syncs: j.syncs, LastSync: j.lastSync, LowSpace: j.lowSpace, Failed: j.failed,
	}
	oldest := int64(0)
	for _, q := range j.queues {
		st.UnappliedRecords += q.open.records
		st.UnappliedRows += q.open.rows
		st.UnappliedBytes += q.open.bytes
		if t := q.oldest(); len(q.stretches) > 0 && (st.Oldest.IsZero() || t < oldest) {
			oldest = t
			st.Oldest = time.Unix(t, 0)
		}
	}
	return st
}

// bootID returns the identity of the machine's boot, zero where there is none.
func bootID() ID {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ID{}
	}
	id, err := ParseID(strings.ReplaceAll(strings.TrimSpace(string(text)), "-", ""))
	if err != nil {
		return ID{}
	}
	return id
}
