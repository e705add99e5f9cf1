package journal

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
)

// Children of the tests are this binary with one of these set.
const (
	childAppends = "SLUICE_TEST_JOURNAL_APPENDS" // directory to append to
	childMode    = "SLUICE_TEST_JOURNAL_MODE"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childAppends); dir != "" {
		appendForEver(dir, os.Getenv(childMode))
		return
	}
	os.Exit(m.Run())
}

// appendForEver prints each sequence number once it is acknowledged.
func appendForEver(dir, word string) {
	fail := func(err error) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	mode, err := ParseSyncMode(word)
	if err != nil {
		fail(err)
	}
	j, err := Open(Options{Dir: dir, Sync: mode, SegmentBytes: 1 << 20, Logger: zerolog.Nop()})
	if err != nil {
		fail(err)
	}
	var mu sync.Mutex
	for w := range 3 {
		q, err := j.Queue(fmt.Sprint("q", w))
		if err != nil {
			fail(err)
		}
		s, err := j.Shape([]byte("shape"))
		if err != nil {
			fail(err)
		}
		go func() {
			for i := 0; ; i++ {
				length := 100
				if i%50 == 0 {
					length = 100000
				}
				seq, err := j.Append(Record{Queue: q, Shape: s, Rows: 1, Body: body(i, length)})
				if err != nil {
					fail(err)
				}
				mu.Lock()
				_, err = fmt.Printf("%d %d %d\n", seq, q, i)
				mu.Unlock()
				if err != nil {
					fail(err)
				}
			}
		}()
	}
	select {}
}

func TestKilledWhileAppending(t *testing.T) {
	for _, mode := range []SyncMode{SyncOS, SyncAlways} {
		t.Run(mode.String(), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "journal")
			acked := make(map[uint64]string)
			for round := range 5 {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), childAppends+"="+dir, childMode+"="+mode.String())
				cmd.Stderr = os.Stderr
				out, err := cmd.StdoutPipe()
				require.NoError(t, err)
				require.NoError(t, cmd.Start())
				before := len(acked)
				lines := bufio.NewScanner(out)
				var timer *time.Timer
				for lines.Scan() {
					if timer == nil {
						timer = time.AfterFunc(time.Duration(5+round*23)*time.Millisecond, func() { _ = cmd.Process.Kill() })
					}
					word, rest, ok := strings.Cut(lines.Text(), " ")
					if !ok || len(strings.Fields(rest)) != 2 {
						continue // cut in the middle of a line
					}
					seq, err := strconv.ParseUint(word, 10, 64)
					require.NoError(t, err)
					require.Empty(t, acked[seq], "a number was used twice")
					acked[seq] = rest
				}
				require.Error(t, cmd.Wait())
				require.Equal(t, -1, cmd.ProcessState.ExitCode(), "it was killed")

				j := mustOpen(t, Options{Dir: dir, Sync: mode, SegmentBytes: 1 << 20, Logger: zerolog.Nop()})
				found := 0
				for _, st := range j.Recovered() {
					require.NoError(t, j.Read(st.ID, 0, endSeq, func(r Record) error {
						if want, ok := acked[r.Seq]; ok {
							found++
							head, _, _ := strings.Cut(string(r.Body[1:]), ",")
							require.True(t, strings.HasPrefix(want, fmt.Sprintf("%d %s", st.ID, head)), "record %d", r.Seq)
						}
						return nil
					}))
				}
				require.Equal(t, len(acked), found, "every acknowledged record is there")
				require.NoError(t, j.Close())
				require.Greater(t, len(acked), before)
			}
			require.Greater(t, len(acked), 20)
		})
	}
}

func TestSecondProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	j := mustOpen(t, Options{Dir: dir, Sync: SyncOS, Logger: zerolog.Nop()})
	child := func() (string, error) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childAppends+"="+dir, childMode+"=os")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := child()
	require.Error(t, err)
	require.Contains(t, out, "directory in use")
	require.Contains(t, out, dir)
	_, err = Open(Options{Dir: dir + "/../journal", Logger: zerolog.Nop()})
	require.ErrorIs(t, err, ErrLocked)
	// The failed attempts did not take the lock away from us.
	out, err = child()
	require.Error(t, err)
	require.Contains(t, out, "directory in use")
	require.NoError(t, j.Close())
	mustOpen(t, Options{Dir: dir, Sync: SyncOS, Logger: zerolog.Nop()})
}
