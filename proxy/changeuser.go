package proxy

import (
	"errors"

	"github.com/sluice-db/sluice/backend/wire"
)

// changeUser relays COM_CHANGE_USER, whose first packet is raw, not yet consumed, and the
// exchange that follows. After a denial the server closes the connection, or not: its
// decision.
func (x *session) changeUser() (done bool, err error) {
	a := x.newExchange()
	a.client.loose = x.compression.Algorithm != wire.Uncompressed
	p, err := a.client.read()
	if errors.Is(err, wire.ErrTooLarge) {
		a.client.seq = 1
		a.client.writeErr(1153, "08S01", "sluice: Got a packet bigger than a COM_CHANGE_USER may be")
		x.linger()
	}
	if err != nil {
		return true, err
	}
	c := wire.ParseChangeUser(p, x.backend.Caps)
	a.plugin = c.Plugin
	if !a.passable(c.Plugin, c.Response) {
		p = c.Withheld()
	}
	if err := a.backend.write(p); err != nil {
		return true, x.lastWords(err)
	}
	err = a.run()
	if err == nil {
		x.login.User = c.User
	}
	x.after(&x.st)
	if errors.Is(err, errDenied) {
		x.b.doubt = true // MariaDB keeps the connection, and has rolled back
		return false, nil
	}
	return err != nil, err
}
