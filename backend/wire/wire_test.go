package wire

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// scripted is a connection whose reads come in pieces of random size.
type scripted struct {
	net.Conn
	in     []byte
	random *rand.Rand
	most   int
}

func (s *scripted) Read(p []byte) (int, error) {
	if len(s.in) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 1+s.random.IntN(s.most))], s.in)
	s.in = s.in[n:]
	return n, nil
}

func (s *scripted) SetReadDeadline(time.Time) error { return nil }

// packets frames payloads as a server does, splitting what is too long.
func packets(payloads ...[]byte) []byte {
	var out []byte
	seq := byte(1)
	for _, p := range payloads {
		for {
			n := min(len(p), MaxChunk)
			out = append(out, byte(n), byte(n>>8), byte(n>>16), seq)
			out = append(out, p[:n]...)
			p = p[n:]
			seq++
			if n < MaxChunk {
				break
			}
		}
	}
	return out
}

func ok(status uint16) []byte {
	return AppendOK(nil, 0, &OK{Affected: 1, Status: status}, Caps{})[headerLen:]
}

func eof(status uint16) []byte { return []byte{IsEOF, 0, 0, byte(status), byte(status >> 8)} }

// okEOF is the OK packet that ends rows under CLIENT_DEPRECATE_EOF.
func okEOF(status uint16) []byte {
	p := ok(status)
	p[0] = IsEOF
	return p
}

var (
	column   = append([]byte("\x03def"), make([]byte, 30)...)
	serverNo = AppendErr(nil, 1, &Error{Code: 1064, State: "42000", Message: "no"})[headerLen:]
	progress = []byte("\xff\xff\xff\x01\x01\x02\x00\x00\x00\x05stage")
)

// replies are whole replies; whatever follows belongs to the next one.
var replies = []struct {
	name   string
	kind   ReplyKind
	caps   Caps
	in     [][]byte
	status uint16
	failed bool
}{
	{"ok", ReplyGeneric, Caps{}, [][]byte{ok(2)}, 2, false},
	{"error", ReplyGeneric, Caps{}, [][]byte{serverNo}, 0, true},
	{"eof alone", ReplyGeneric, Caps{}, [][]byte{eof(2)}, 2, false},
	{"ok with the header of an eof", ReplyGeneric, Caps{Base: ClientDeprecateEOF}, [][]byte{append(okEOF(2|StatusSessionState), "\x00\x02\x01\x00"...)}, 2 | StatusSessionState, false},
	{"ok with a track type that nobody knows", ReplyGeneric, Caps{Base: ClientSessionTrack}, [][]byte{append(ok(2|StatusSessionState), "\x00\x05\x7f\x03abc"...)}, 2 | StatusSessionState, false},
	{"progress, then ok", ReplyGeneric, Caps{}, [][]byte{progress, progress, ok(2)}, 2, false},
	{"rows", ReplyGeneric, Caps{}, [][]byte{{2}, column, column, eof(2), []byte("\x01a\x01b"), []byte("\x01a\xfb"), eof(0x22)}, 0x22, false},
	{"no rows", ReplyGeneric, Caps{}, [][]byte{{1}, column, eof(2), eof(2)}, 2, false},
	{"rows without eof", ReplyGeneric, Caps{Base: ClientDeprecateEOF}, [][]byte{{1}, column, []byte("\x01a"), okEOF(2)}, 2, false},
	{"error in rows", ReplyGeneric, Caps{}, [][]byte{{1}, column, eof(2), []byte("\x01a"), serverNo}, 2, true},
	{"several results", ReplyGeneric, Caps{}, [][]byte{ok(2 | StatusMoreResults), {1}, column, eof(2 | StatusMoreResults), eof(2 | StatusMoreResults), ok(3)}, 3, false},
	{"error after results", ReplyGeneric, Caps{}, [][]byte{ok(2 | StatusMoreResults), serverNo}, 2 | StatusMoreResults, true},
	{"cursor", ReplyGeneric, Caps{}, [][]byte{{1}, column, eof(2 | StatusCursorExists)}, 2 | StatusCursorExists, false},
	{"cursor without eof", ReplyGeneric, Caps{Base: ClientDeprecateEOF}, [][]byte{{1}, column, okEOF(2 | StatusCursorExists)}, 2 | StatusCursorExists, false},
	{"cached metadata", ReplyGeneric, Caps{Base: ClientDeprecateEOF, Maria: MariaCacheMeta}, [][]byte{{2, 0}, {0, 0, 1, 2}, okEOF(2)}, 2, false},
	{"fresh metadata", ReplyGeneric, Caps{Base: ClientDeprecateEOF, Maria: MariaCacheMeta}, [][]byte{{1, 1}, column, {0, 0, 1}, okEOF(2)}, 2, false},
	{"row that begins as an eof", ReplyGeneric, Caps{Base: ClientDeprecateEOF}, [][]byte{{1}, column, append([]byte{0xfe, 0, 0, 0, 1, 0, 0, 0, 0}, make([]byte, 1<<24)...), okEOF(2)}, 2, false},
	{"row of exactly 16 MiB - 1", ReplyGeneric, Caps{}, [][]byte{{1}, column, eof(2), make([]byte, MaxChunk), eof(2)}, 2, false},
	{"prepare", ReplyPrepare, Caps{}, [][]byte{{0, 7, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0}, column, column, eof(2), column, eof(2)}, 0, false},
	{"prepare without eof", ReplyPrepare, Caps{Base: ClientDeprecateEOF}, [][]byte{{0, 7, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0}, column, column, column}, 0, false},
	{"prepare of nothing", ReplyPrepare, Caps{}, [][]byte{{0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}, 0, false},
	{"prepare refused", ReplyPrepare, Caps{}, [][]byte{serverNo}, 0, true},
	{"fetch", ReplyRows, Caps{}, [][]byte{{0, 0, 1}, {0, 0, 2}, eof(2 | StatusLastRowSent)}, 2 | StatusLastRowSent, false},
	{"field list", ReplyRows, Caps{Base: ClientDeprecateEOF}, [][]byte{column, column, eof(2)}, 2, false},
	{"statistics", ReplyOne, Caps{}, [][]byte{[]byte("Uptime: 1")}, 0, false},
}

// TestReplyEnds: a reply is forwarded whole and not a byte further, however its bytes come.
func TestReplyEnds(t *testing.T) {
	for _, c := range replies {
		t.Run(c.name, func(t *testing.T) {
			in := packets(c.in...)
			next := packets(ok(0x55))
			for _, most := range []int{1, 5, 100, 1 << 20} {
				if most < 100 && len(in) > 1<<20 {
					continue
				}
				src := NewConn(&scripted{in: append(bytes.Clone(in), next...), random: rand.New(rand.NewPCG(1, uint64(most))), most: most})
				var out bytes.Buffer
				var r Reply
				r.Begin(c.kind, c.caps)
				ended := 0
				readErr, writeErr := src.RelayReply(&out, &r, func() {
					ended++
					require.Less(t, out.Len(), len(in), "the end is told after the last byte was written")
				})
				require.NoError(t, readErr)
				require.NoError(t, writeErr)
				require.Equal(t, 1, ended)
				require.True(t, bytes.Equal(in, out.Bytes()))
				require.Equal(t, c.failed, r.Failed)
				require.Equal(t, c.status, r.Status)
				rest, _, err := src.ReadPacket(100)
				require.NoError(t, err)
				require.Equal(t, ok(0x55), rest)
			}
		})
	}
}

// TestReplyAsksForFile: the relay stops where the client has to send, and goes on after.
func TestReplyAsksForFile(t *testing.T) {
	ask := append([]byte{IsInfile}, "name"...)
	src := NewConn(&scripted{in: packets(ok(2|StatusMoreResults), ask, ok(2|StatusMoreResults), ok(2)), random: rand.New(rand.NewPCG(1, 1)), most: 1000})
	var out bytes.Buffer
	var r Reply
	r.Begin(ReplyGeneric, Caps{})
	readErr, writeErr := src.RelayReply(&out, &r, nil)
	require.NoError(t, readErr)
	require.NoError(t, writeErr)
	require.True(t, r.Infile)
	require.Equal(t, packets(ok(2|StatusMoreResults), ask), out.Bytes())
	r.Infile = false
	readErr, _ = src.RelayReply(&out, &r, nil)
	require.NoError(t, readErr)
	require.False(t, r.Infile)
	require.Equal(t, uint16(2), r.Status)
}

// TestForwardPacket: payloads around the boundaries of a packet are forwarded whole.
func TestForwardPacket(t *testing.T) {
	for _, n := range []int{0, 1, largeBuffer - 4, largeBuffer, MaxChunk - 1, MaxChunk, MaxChunk + 1, 2 * MaxChunk} {
		in := packets(make([]byte, n))
		src := NewConn(&scripted{in: bytes.Clone(in), random: rand.New(rand.NewPCG(1, 1)), most: 1 << 20})
		var out bytes.Buffer
		seq, empty, readErr, writeErr := src.ForwardPacket(&out, 0)
		require.NoError(t, readErr)
		require.NoError(t, writeErr)
		require.Equal(t, n == 0, empty)
		require.EqualValues(t, 1+n/MaxChunk, seq)
		require.True(t, bytes.Equal(in, out.Bytes()), n)
		require.Zero(t, src.Buffered())
	}
}

// TestWriteCommand: what is written in parts is read back as one payload.
func TestWriteCommand(t *testing.T) {
	for _, n := range []int{0, 10, MaxChunk - 2, MaxChunk - 1, MaxChunk, MaxChunk + 1} {
		a, b := net.Pipe()
		arg := bytes.Repeat([]byte{7}, n)
		go func() {
			_ = NewConn(a).WriteCommand(ComQuery, arg[:n/2], arg[n/2:])
			_ = a.Close()
		}()
		p, _, err := NewConn(b).ReadPacket(1 << 26)
		require.NoError(t, err)
		require.True(t, bytes.Equal(append([]byte{ComQuery}, arg...), p), n)
	}
}

// TestAnnouncedLength: a header that announces what never comes takes no memory for it.
func TestAnnouncedLength(t *testing.T) {
	sent := append([]byte{0xFE, 0xFF, 0xFF, 0}, make([]byte, 100)...)
	const n = 100
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n {
		_, _, err := NewConn(&scripted{in: sent, random: rand.New(rand.NewPCG(1, 1)), most: 50}).ReadPacket(1 << 26)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(n*4*smallBuffer))
}

func TestGreetingVersions(t *testing.T) {
	for text, want := range map[string]int{
		"5.5.5-10.11.19-MariaDB-0+deb12u1": 101119, "10.11.19-MariaDB": 101119, "9.7.4-2": 90704, "8.0.36": 80036, "x": 0, "8.0": 0,
	} {
		require.Equal(t, want, (&Greeting{Version: text}).VersionNumber(), text)
	}
}

func greeting() []byte {
	p := append([]byte{10}, "9.7.4\x00"...)
	p = append(p, 1, 0, 0, 0)
	p = append(p, "12345678\x00"...)
	p = append(p, 0xff, 0xff, 255, 2, 0, 0xff, 0xff, 21)
	p = append(p, make([]byte, 10)...)
	return append(p, "123456789012\x00caching_sha2_password\x00"...)
}

// TestMasks: what sluice does not relay is neither offered nor passed on.
func TestMasks(t *testing.T) {
	g, err := ParseGreeting(greeting())
	require.NoError(t, err)
	require.Equal(t, "caching_sha2_password", g.Plugin)
	require.Equal(t, "12345678123456789012", string(g.Salt))
	offered, err := ParseGreeting(bytes.Clone(g.Mask(false, 0)))
	require.NoError(t, err)
	require.Zero(t, offered.Base&(ClientSSL|ClientCompress|ClientZstd|ClientOptionalMeta|1<<31))
	require.NotZero(t, offered.Base&ClientDeprecateEOF)

	raw := make([]byte, 32)
	for i := range 4 {
		raw[i] = 0xff
	}
	raw = append(raw, "user\x00\x04autXdb\x00mysql_native_password\x00"...)
	raw[38] = 3
	l, err := ParseLogin(raw)
	require.NoError(t, err)
	require.Equal(t, []string{"user", "db", "mysql_native_password"}, []string{l.User, l.Schema, l.Plugin})
	masked, err := ParseLogin(bytes.Clone(l.Mask(g, false)))
	require.NoError(t, err)
	require.Zero(t, masked.Base&(ClientSSL|ClientCompress|ClientZstd))
}

func FuzzGreeting(f *testing.F) {
	f.Add(greeting())
	f.Add([]byte{IsErr, 16, 4, 'x'})
	f.Fuzz(func(t *testing.T, p []byte) {
		if g, err := ParseGreeting(bytes.Clone(p)); err == nil {
			_ = g.VersionNumber()
			if len(g.Mask(false, 0)) != len(p) {
				t.Fatal("masking changes the length")
			}
			_ = DeniedLogin(g)
		}
	})
}

// loginPacket is a login's payload: flags, MariaDB's extended flags, what follows the header.
func loginPacket(base, maria uint32, rest string) []byte {
	p := binary.LittleEndian.AppendUint32(nil, base)
	p = binary.LittleEndian.AppendUint32(p, 1<<24)
	p = append(append(p, 45), make([]byte, 19)...)
	return append(binary.LittleEndian.AppendUint32(p, maria), rest...)
}

// logins are what clients send first.
var logins = []struct {
	name string
	p    []byte
	want Login
}{
	{
		"auth data and attributes with lengths",
		loginPacket(loginFlags|ClientAuthLenenc|ClientConnectWithDB|ClientPluginAuth|ClientConnectAttrs, 0,
			"app\x00\xfc\x03\x00autdb\x00mysql_native_password\x00\x0d\x05_name\x06client"),
		Login{User: "app", Schema: "db", answer: answer{Response: []byte("aut"), Plugin: "mysql_native_password"}},
	},
	{
		"auth data with one byte of length",
		loginPacket(loginFlags, 0, "app\x00\x03aut"),
		Login{User: "app", answer: answer{Response: []byte("aut")}},
	},
	{
		"zstd and its level",
		loginPacket(loginFlags|ClientAuthLenenc|ClientPluginAuth|ClientConnectAttrs|ClientZstd, 0,
			"app\x00\x03autcaching_sha2_password\x00\x04\x01a\x01b\x07"),
		Login{User: "app", Algorithms: Zstd, ZstdLevel: 7, answer: answer{Response: []byte("aut"), Plugin: "caching_sha2_password"}},
	},
	{
		"MariaDB's capabilities",
		loginPacket(loginFlags&^ClientMySQL|ClientPluginAuth|ClientCompress, MariaProgress|MariaBulk|MariaCacheMeta,
			"app\x00\x00client_ed25519\x00"),
		Login{User: "app", Maria: MariaProgress | MariaBulk | MariaCacheMeta, Algorithms: Zlib, answer: answer{Plugin: "client_ed25519"}},
	},
	{
		"a password with a zero behind it",
		loginPacket(ClientMySQL|ClientProtocol41|ClientConnectWithDB, 0, "app\x00aut\x00db"),
		Login{User: "app", Schema: "db", answer: answer{Response: []byte("aut")}},
	},
}

const loginFlags = ClientMySQL | ClientProtocol41 | ClientSecureConn

var sslRequest = loginPacket(loginFlags|ClientSSL|ClientPluginAuth, 0, "")

// TestParseLogin: what FuzzLogin begins with are logins, and one SSLRequest.
func TestParseLogin(t *testing.T) {
	for _, c := range logins {
		require.False(t, IsSSLRequest(c.p), c.name)
		l, err := ParseLogin(bytes.Clone(c.p))
		require.NoError(t, err, c.name)
		require.Equal(t, c.want.User, l.User, c.name)
		require.Equal(t, c.want.Schema, l.Schema, c.name)
		require.Equal(t, string(c.want.Response), string(l.Response), c.name)
		require.Equal(t, c.want.Plugin, l.Plugin, c.name)
		require.Equal(t, c.want.Maria, l.Maria, c.name)
		require.Equal(t, c.want.Algorithms, l.Algorithms&(Zlib|Zstd), c.name)
		require.Equal(t, c.want.ZstdLevel, l.ZstdLevel, c.name)
		require.EqualValues(t, 45, l.Charset, c.name)
	}
	require.True(t, IsSSLRequest(sslRequest))
	_, err := ParseLogin(sslRequest)
	require.ErrorIs(t, err, ErrBadHandshake, "there is no user in it")
}

func FuzzLogin(f *testing.F) {
	for _, c := range logins {
		f.Add(c.p)
	}
	f.Add(sslRequest)
	f.Add(append(make([]byte, 32), "user\x00\x03autdb\x00plugin\x00"...)) // older than protocol 4.1
	g, _ := ParseGreeting(greeting())
	f.Fuzz(func(t *testing.T, p []byte) {
		if IsSSLRequest(p) && len(SSLRequest(p)) != headerLen+requestLen {
			t.Fatal("an SSLRequest of another length")
		}
		l, err := ParseLogin(bytes.Clone(p))
		if err != nil {
			return
		}
		want := len(p)
		if l.levelAt > 0 {
			want = l.levelAt
		}
		if len(l.Mask(g, false)) != want {
			t.Fatal("masking changes the length")
		}
		if again, err := ParseLogin(l.Withheld()); err == nil && len(again.Response) > 0 {
			t.Fatal("the response is still there")
		}
		if _, err := ParseLogin(l.Denied(g)); err != nil {
			t.Fatal("a denied login that is none")
		}
	})
}

// FuzzReply: whatever a server sends, nothing panics and every byte up to the end is
// forwarded as it came.
func FuzzReply(f *testing.F) {
	for _, c := range replies {
		if in := packets(c.in...); len(in) < 1000 {
			f.Add(in, byte(c.kind), c.caps.Base, c.caps.Maria)
		}
	}
	f.Fuzz(func(t *testing.T, in []byte, kind byte, base, maria uint32) {
		src := NewConn(&scripted{in: bytes.Clone(in), random: rand.New(rand.NewPCG(1, 1)), most: 50})
		var out bytes.Buffer
		var r Reply
		r.Begin(ReplyKind(kind%8), Caps{Base: base, Maria: maria})
		_, _ = src.RelayReply(&out, &r, nil)
		if !bytes.HasPrefix(in, out.Bytes()) {
			t.Fatal("bytes were changed")
		}
	})
}
