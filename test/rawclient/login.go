package rawclient

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"
)

// Options says how to log in.
type Options struct {
	User, Password, Schema string
	Caps                   uint64 // zero means DefaultCaps
	Charset                byte   // zero means utf8mb4_general_ci
	Plugin                 string // empty means the server's default
	TLS                    *tls.Config
	Compression            Compression
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
	packed   *packed // nil without compression
	secure   bool    // passwords may be sent as they are
	seq      byte
	showsID  bool // among the columns of the result at hand is one named after CONNECTION_ID()
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
	c := &Client{conn: conn, reader: bufio.NewReaderSize(conn, 64<<10), password: options.Password, secure: network == "unix"}
	if err := c.login(options); err != nil {
		if !errors.Is(err, ErrRefused) {
			return nil, errors.Join(err, conn.Close())
		}
		return c, err
	}
	c.compress(options.Compression)
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
	c.Caps = (o.Caps | o.Compression.capability()) & c.Greeting.Caps
	c.plugin = o.Plugin
	if c.plugin == "" {
		c.plugin = c.Greeting.Plugin
	}
	c.nonce = c.Greeting.nonce
	if o.TLS != nil {
		if err := c.startTLS(o); err != nil {
			return err
		}
	}
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
	out = appendString(out, c.firstAnswer())
	if c.Caps&ConnectWithDB != 0 {
		out = append(append(out, o.Schema...), 0)
	}
	if c.Caps&PluginAuth != 0 {
		out = append(append(out, c.plugin...), 0)
	}
	if c.Caps&ConnectAttrs != 0 {
		out = appendString(out, connectAttrs())
	}
	if c.Caps&ZstdCompress != 0 {
		out = append(out, o.Compression.level())
	}
	return out
}

func connectAttrs() []byte {
	return appendString(appendString(nil, []byte("program_name")), []byte("rawclient"))
}
