package compat

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-db/sluice/test/rawclient"
)

const mainConn = "main"

// Entry is one step of a played script with everything that came back.
type Entry struct {
	Step   string
	Insert bool // an INSERT or REPLACE, which sluice may batch
	Reply  rawclient.Reply
}

// player plays the steps of a script against one address.
type player struct {
	addr       string
	schema     string
	conns      map[string]*rawclient.Client
	conn       *rawclient.Client // the current one; nil after a refused login
	connName   string
	statements map[string]*statement
	pipeline   []pending
	piping     bool
	parked     bool // every connection begins with small commands
	mask       bool
	entries    []Entry

	compression rawclient.Compression
}

type statement struct {
	id     uint32
	insert bool
}

// pending is a command that was or will be sent, with its reply to come.
type pending struct {
	step    step
	insert  bool
	mask    bool
	command rawclient.Command
	prepare *statement
}

func newPlayer(addr, schema string) *player {
	return &player{
		addr: addr, schema: schema,
		conns:      map[string]*rawclient.Client{},
		statements: map[string]*statement{},
	}
}

// play runs the steps. An error is a hang or a broken protocol; everything
// that a server may answer is in the entries.
func (p *player) play(steps []step) error {
	if p.conn == nil && p.connName == "" {
		if err := p.use(mainConn); err != nil {
			return err
		}
	}
	for _, st := range steps {
		if err := p.step(st); err != nil {
			return fmt.Errorf("line %d, %s %.200s: %w", st.line, st.verb, st.args, err)
		}
	}
	return nil
}

// close ends the connections as a polite client does.
func (p *player) close() error {
	var errs []error
	for _, c := range p.conns {
		_, err := c.Do(rawclient.Simple(rawclient.ComQuit, rawclient.ClosedReply))
		errs = append(errs, err)
		_ = c.Close() // the server may have closed it first
	}
	return errors.Join(errs...)
}

func (p *player) text(raw string) []byte {
	return expand(strings.ReplaceAll(raw, "$S", p.schema))
}

func (p *player) step(st step) error {
	verb := verbs[st.verb]
	if verb == nil {
		return fmt.Errorf("unknown directive")
	}
	return verb(p, st)
}

// do sends a command and records its reply, or keeps it for the pipeline.
func (p *player) do(next pending) error {
	next.mask, p.mask = p.mask, false
	if p.piping {
		p.pipeline = append(p.pipeline, next)
		return nil
	}
	if p.conn == nil {
		p.record(next, rawclient.Reply{"no connection"})
		return nil
	}
	reply, err := p.conn.Do(next.command)
	if err != nil {
		return err
	}
	p.record(next, reply)
	return nil
}

func (p *player) record(done pending, reply rawclient.Reply) {
	if done.prepare != nil && p.conn != nil {
		done.prepare.id = p.conn.PreparedID()
	}
	if done.mask {
		reply = maskRows(reply)
	}
	p.entries = append(p.entries, Entry{
		Step:   fmt.Sprintf("line %d (%s): %s %.300s", done.step.line, p.connName, done.step.verb, done.step.args),
		Insert: done.insert,
		Reply:  reply,
	})
}

// maskRows hides what rows say and how many there are.
func maskRows(reply rawclient.Reply) rawclient.Reply {
	var out rawclient.Reply
	for _, line := range reply {
		_, text, _ := strings.Cut(line, " ") // the sequence number counts rows too
		for _, kind := range []string{"ROW ", "TEXT "} {
			if strings.HasPrefix(text, kind) {
				text = kind + "masked"
			}
		}
		if len(out) == 0 || out[len(out)-1] != text {
			out = append(out, text)
		}
	}
	return out
}

// pings is what has sluice serve a session in its event loop.
func pings(c *rawclient.Client) error {
	const enough = 24
	for range enough {
		if _, err := c.Do(rawclient.Simple(rawclient.ComPing, rawclient.OneReply)); err != nil {
			return err
		}
	}
	return nil
}

// use makes a connection the current one, opening it if its name is new.
func (p *player) use(args string) error {
	fields := strings.Fields(args)
	name := fields[0]
	p.connName = name
	if c, ok := p.conns[name]; ok {
		p.conn = c
		return nil
	}
	options, err := parseOptions(fields[1:], p.schema)
	if err != nil {
		return err
	}
	options.Compression = p.compression
	c, err := rawclient.Dial(p.addr, options)
	refused := errors.Is(err, rawclient.ErrRefused)
	if err != nil && !refused {
		return err
	}
	greeting := describeGreeting(c.Greeting)
	p.entries = append(p.entries, Entry{Step: "login " + args, Reply: append(rawclient.Reply{greeting}, c.Login...)})
	if refused {
		p.conn = nil
		return c.Close()
	}
	p.conn, p.conns[name] = c, c
	if p.parked {
		return pings(c)
	}
	return nil
}

// unrelayed are the capabilities that sluice does not offer to clients: what
// it cannot relay must not be seen. The last two mean nothing on the wire.
const unrelayed = rawclient.SSL | rawclient.Compress | rawclient.ZstdCompress |
	rawclient.OptionalMetadata | rawclient.VerifyCert | rawclient.RememberOptions

func describeGreeting(g rawclient.Greeting) string {
	return fmt.Sprintf("GREETING version=%s caps=%x charset=%d status=%04x plugin=%s",
		g.Version, g.Caps&^unrelayed, g.Charset, g.Status, g.Plugin)
}

func parseOptions(fields []string, schema string) (rawclient.Options, error) {
	o := rawclient.Options{User: "app", Password: "app", Schema: schema, Caps: rawclient.DefaultCaps}
	for _, field := range fields {
		key, value, _ := strings.Cut(field, "=")
		switch key {
		case "user":
			o.User = value
		case "password":
			o.Password = value
		case "schema":
			o.Schema = strings.ReplaceAll(value, "$S", schema)
		case "plugin":
			o.Plugin = value
		case "charset":
			n, err := strconv.ParseUint(value, 10, 8)
			if err != nil {
				return o, fmt.Errorf("charset: %w", err)
			}
			o.Charset = byte(n)
		case "caps":
			if err := changeCaps(&o.Caps, value); err != nil {
				return o, err
			}
		default:
			return o, fmt.Errorf("unknown option %q", field)
		}
	}
	return o, nil
}

func changeCaps(caps *uint64, changes string) error {
	for change := range strings.SplitSeq(changes, ",") {
		flag, ok := rawclient.CapNames[change[1:]]
		switch {
		case ok && change[0] == '+':
			*caps |= flag
		case ok && change[0] == '-':
			*caps &^= flag
		default:
			return fmt.Errorf("unknown capability %q", change)
		}
	}
	return nil
}

// endPipeline sends what was gathered in one piece and reads the replies.
func (p *player) endPipeline() error {
	p.piping = false
	queue := p.pipeline
	p.pipeline = nil
	commands := make([]rawclient.Command, len(queue))
	for i, q := range queue {
		commands[i] = q.command
	}
	if err := p.conn.Send(commands...); err != nil {
		return err
	}
	for _, q := range queue {
		reply, err := p.conn.Receive(q.command)
		if err != nil {
			return err
		}
		p.record(q, reply)
	}
	return nil
}

// insertPattern is enough for scripts: the statement's first word after
// comments, or after an opening executable comment.
var insertPattern = regexp.MustCompile(`(?is)^(\s|/\*[^!].*?\*/|/\*/?\*/|/\*!\d*|--\s.*?\n|#.*?\n|;)*(insert|replace)\b`)

func isInsert(sql []byte) bool { return insertPattern.Match(sql) }

func sleep(p *player, st step) error {
	d, err := time.ParseDuration(st.args)
	if err != nil {
		return err
	}
	time.Sleep(d)
	return nil
}
