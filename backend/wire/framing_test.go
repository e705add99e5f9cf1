package wire

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// payloads takes a stream apart as the protocol says, one payload after another, up to the
// first that is not whole or is larger than limit.
func payloads(in []byte, limit int) (whole [][]byte) {
	for {
		var p []byte
		for {
			if len(in) < headerLen {
				return whole
			}
			n := chunkLen(in)
			if len(p)+n > limit || len(in) < headerLen+n {
				return whole
			}
			p = append(p, in[headerLen:headerLen+n]...)
			in = in[headerLen+n:]
			if n < MaxChunk {
				break
			}
		}
		whole = append(whole, p)
	}
}

// FuzzPackets: however a stream of packets comes in pieces, it is read, looked at and
// forwarded as what it is.
func FuzzPackets(f *testing.F) {
	f.Add(packets([]byte("one"), nil, make([]byte, 3000)), uint16(7), uint16(2000))
	f.Add(packets(make([]byte, largeBuffer)), uint16(60000), uint16(1))
	f.Add(bytes.Repeat([]byte{0xff, 0xff, 0xff, 0}, 100), uint16(4), uint16(50000))
	f.Add([]byte{3, 0, 0}, uint16(1), uint16(10))
	f.Fuzz(func(t *testing.T, in []byte, most, limit uint16) {
		stream := func() *Conn {
			return NewConn(&scripted{in: bytes.Clone(in), random: rand.New(rand.NewPCG(1, 1)), most: int(most) + 1})
		}
		c := stream()
		for _, want := range payloads(in, int(limit)) {
			p, _, err := c.ReadPacket(int(limit))
			require.NoError(t, err)
			require.True(t, bytes.Equal(want, p))
		}
		_, _, err := c.ReadPacket(int(limit))
		require.Error(t, err)

		c = stream()
		var out bytes.Buffer
		for whole := payloads(in, len(in)); ; whole = whole[1:] {
			raw, complete, err := c.Packet()
			if err == nil && complete {
				require.True(t, bytes.HasPrefix(in[out.Len():], raw))
			}
			c.Shrink()
			_, empty, err, _ := c.ForwardPacket(&out, 0)
			require.True(t, bytes.HasPrefix(in, out.Bytes()))
			if err != nil {
				require.Empty(t, whole)
				return
			}
			require.Equal(t, len(whole[0]) == 0, empty)
		}
	})
}

// A stream that ends is told from one that ends within a packet.
func TestReadPacketEnds(t *testing.T) {
	for in, want := range map[string]error{"": io.EOF, "\x03\x00": io.EOF, "\x03\x00\x00\x00ab": io.ErrUnexpectedEOF} {
		_, _, err := NewConn(&scripted{in: []byte(in), random: rand.New(rand.NewPCG(1, 1)), most: 50}).ReadPacket(100)
		require.ErrorIs(t, err, want)
	}
}
