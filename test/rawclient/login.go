package rawclient

import (
	"bufio"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"
)

// Authentication plug-ins.
const (
	NativePassword = "mysql_native_password"
	CachingSHA2    = "caching_sha2_password"
)

// Options says how to log in.
type Options struct {
	User, Password, Schema string
	Caps                   uint64 // zero means DefaultCaps
	Charset                byte   // zero means utf8mb4_general_ci
	Plugin                 string // empty means the server's default
}

// Greeting is the server's first packet.
type Greeting struct {
	Version  string
	ThreadID uint32
	Caps     uint64
	Charset  byte
	Status   uint16
	Plugin   string
	nonce    []byte
}

// Client is one connection.
type Client struct {
	Greeting Greeting
	Caps     uint64   // asked for and offered
	Login    []string // the packets of the login, decoded; never secrets or nonces
	Progress []string // the progress reports of the last reply, decoded (MariaDB)

	conn     net.Conn
	reader   *bufio.Reader
	seq      byte
	password string
	plugin   string
	nonce    []byte
	infiles  []Infile

	preparedID uint32
}

// ErrRefused is returned by Dial together with a Client whose Login tells why.
var ErrRefused = errors.New("login refused")

// Dial connects and logs in. If the server answers with an error packet both
// the client and ErrRefused are returned.
func Dial(addr string, options Options) (*Client, error) {
	network := "tcp"
	if addr[0] == '/' {
		network = "unix"
	}
	conn, err := net.DialTimeout(network, addr, 10*time.Second)
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	c := &Client{conn: conn, reader: bufio.NewReaderSize(conn, 64<<10), password: options.Password}
	if err := c.login(options); err != nil {
		if !errors.Is(err, ErrRefused) {
			return nil, errors.Join(err, conn.Close())
		}
		return c, err
	}
	return c, nil
}

// Close drops the connection without COM_QUIT.
func (c *Client) Close() error { return c.conn.Close() }

// Conn is the connection below, for tests that misbehave.
func (c *Client) Conn() net.Conn { return c.conn }

func (c *Client) login(o Options) error {
	_, payload, err := c.read()
	if err != nil {
		return fmt.Errorf("greeting: %w", err)
	}
	if len(payload) > 0 && payload[0] == 0xFF {
		c.Login = append(c.Login, "0 "+describeEarlyError(payload))
		return ErrRefused
	}
	if c.Greeting, err = parseGreeting(payload); err != nil {
		return err
	}
	if o.Caps == 0 {
		o.Caps = DefaultCaps
	}
	if o.Charset == 0 {
		o.Charset = 45
	}
	if o.Schema != "" {
		o.Caps |= ConnectWithDB
	}
	c.Caps = o.Caps & c.Greeting.Caps
	c.plugin = o.Plugin
	if c.plugin == "" {
		c.plugin = c.Greeting.Plugin
	}
	c.nonce = c.Greeting.nonce
	if err := c.write(c.response(o)); err != nil {
		return err
	}
	return c.finishAuth(&c.Login)
}

// parseGreeting implements
// https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_handshake_v10.html
func parseGreeting(payload []byte) (Greeting, error) {
	in := &cursor{rest: payload}
	if version := in.u8(); version != 10 {
		return Greeting{}, fmt.Errorf("greeting: protocol version %d", version)
	}
	g := Greeting{Version: string(in.nulString()), ThreadID: in.u32()}
	nonce := slices.Clone(in.take(8))
	in.take(1)
	low := in.u16()
	g.Charset = in.u8()
	g.Status = in.u16()
	g.Caps = uint64(low) | uint64(in.u16())<<16
	size := int(in.u8())
	in.take(6)
	maria := in.u32()
	if g.Caps&LongPassword == 0 {
		g.Caps |= uint64(maria) << 32
	}
	nonce = append(nonce, in.take(max(12, size-9))...)
	in.take(1)
	g.Plugin = string(in.nulString())
	g.nonce = nonce
	if in.failed || len(nonce) != 20 {
		return g, fmt.Errorf("greeting: malformed: %x", payload)
	}
	return g, nil
}

// response builds the handshake response.
// https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_handshake_response.html
func (c *Client) response(o Options) []byte {
	out := binary.LittleEndian.AppendUint32(nil, uint32(c.Caps))
	out = binary.LittleEndian.AppendUint32(out, 1<<30)
	out = append(out, o.Charset)
	out = append(out, make([]byte, 19)...)
	out = binary.LittleEndian.AppendUint32(out, uint32(c.Caps>>32))
	out = append(append(out, o.User...), 0)
	out = appendString(out, scramble(c.plugin, o.Password, c.nonce))
	if c.Caps&ConnectWithDB != 0 {
		out = append(append(out, o.Schema...), 0)
	}
	if c.Caps&PluginAuth != 0 {
		out = append(append(out, c.plugin...), 0)
	}
	if c.Caps&ConnectAttrs != 0 {
		out = appendString(out, connectAttrs())
	}
	return out
}

func connectAttrs() []byte {
	return appendString(appendString(nil, []byte("program_name")), []byte("rawclient"))
}

// scramble answers the nonce for the password.
func scramble(plugin, password string, nonce []byte) []byte {
	if password == "" {
		return nil
	}
	switch plugin {
	case NativePassword:
		stage1 := sha1.Sum([]byte(password))
		stage2 := sha1.Sum(stage1[:])
		mix := sha1.Sum(append(slices.Clone(nonce), stage2[:]...))
		return xor(mix[:], stage1[:])
	case CachingSHA2:
		stage1 := sha256.Sum256([]byte(password))
		stage2 := sha256.Sum256(stage1[:])
		mix := sha256.Sum256(append(stage2[:], nonce...))
		return xor(stage1[:], mix[:])
	default:
		return []byte("no such plug-in here")
	}
}

func xor(a, b []byte) []byte {
	out := make([]byte, len(a))
	for i := range a {
		out[i] = a[i] ^ b[i%len(b)]
	}
	return out
}

// finishAuth goes through auth switches and extra data to the OK or ERR.
func (c *Client) finishAuth(log *[]string) error {
	for {
		seq, payload, err := c.read()
		if err != nil {
			return fmt.Errorf("authenticate: %w", err)
		}
		note := func(format string, args ...any) {
			*log = append(*log, fmt.Sprintf("%d ", seq)+fmt.Sprintf(format, args...))
		}
		if len(payload) == 0 {
			return errors.New("authenticate: empty packet")
		}
		switch {
		case payload[0] == 0x00:
			note("%s", c.describeOK(payload))
			return nil
		case payload[0] == 0xFF:
			note("%s", c.describeError(payload))
			return ErrRefused
		case payload[0] == 0xFE:
			in := &cursor{rest: payload[1:]}
			c.plugin = string(in.nulString())
			c.nonce = slices.Clone(in.nulString())
			note("AUTH SWITCH %s, nonce of %d", c.plugin, len(c.nonce))
			err = c.write(scramble(c.plugin, c.password, c.nonce))
		case payload[0] == 0x01 && len(payload) == 2 && payload[1] == 3:
			note("FAST AUTH OK")
		case payload[0] == 0x01 && len(payload) == 2 && payload[1] == 4:
			note("FULL AUTH")
			err = c.write([]byte{2}) // ask for the RSA key
		case payload[0] == 0x01:
			note("PUBLIC KEY")
			err = c.sendByRSA(payload[1:])
		default:
			return fmt.Errorf("authenticate: unknown packet %x", payload)
		}
		if err != nil {
			return err
		}
	}
}

func (c *Client) sendByRSA(key []byte) error {
	block, _ := pem.Decode(key)
	if block == nil {
		return fmt.Errorf("public key: not PEM: %q", key)
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return fmt.Errorf("public key: %w", err)
	}
	public, ok := parsed.(*rsa.PublicKey)
	if !ok {
		return fmt.Errorf("public key: %T", parsed)
	}
	plain := xor(append([]byte(c.password), 0), c.nonce)
	secret, err := rsa.EncryptOAEP(sha1.New(), rand.Reader, public, plain, nil)
	if err != nil {
		return fmt.Errorf("encrypt password: %w", err)
	}
	return c.write(secret)
}
