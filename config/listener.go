package config

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Listener is one address that clients connect to.
type Listener struct {
	Network string // tcp or unix, as net.Listen takes it
	Address string
	Profile Profile // never empty after Load
}

// String returns the listener in the form that it is configured in.
func (l Listener) String() string {
	s := l.Address
	if l.Network == "unix" {
		s = "unix:" + s
	}
	if l.Profile != "" {
		s += ",profile=" + string(l.Profile)
	}
	return s
}

// parseListener reads ADDR|unix:PATH[,profile=NAME].
func parseListener(s string) (Listener, error) {
	address, option, hasOption := strings.Cut(s, ",")
	var l Listener
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		if err := checkSocketPath(path); err != nil {
			return Listener{}, err
		}
		l = Listener{Network: "unix", Address: path}
	} else {
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return Listener{}, fmt.Errorf("%q is not an address: write HOST:PORT, :PORT or unix:PATH", address)
		}
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return Listener{}, fmt.Errorf("%q: the port is not a number up to 65535", address)
		}
		l = Listener{Network: "tcp", Address: address}
	}
	if !hasOption {
		return l, nil
	}
	name, value, _ := strings.Cut(option, "=")
	if name != "profile" {
		return Listener{}, fmt.Errorf("%q: only profile=NAME can follow an address; several addresses are a list, --listen again, or words of SLUICE_LISTEN", option)
	}
	if err := profileValue(&l.Profile).Set(value); err != nil {
		return Listener{}, err
	}
	return l, nil
}

// listenValue reads the whole list of listeners from one source.
type listenValue struct{ list *[]Listener }

func (v listenValue) SetAll(texts []string) error {
	list := make([]Listener, 0, len(texts))
	var errs []error
	for _, s := range texts {
		l, err := parseListener(s)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		list = append(list, l)
	}
	if len(texts) == 0 {
		errs = append(errs, errors.New("there is no address"))
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	*v.list = list
	return nil
}

func (v listenValue) Strings() []string {
	texts := make([]string, len(*v.list))
	for i, l := range *v.list {
		texts[i] = l.String()
	}
	return texts
}
