package rewrite

import "encoding/binary"

// moment is a point in time as written: digits without a time zone.
type moment struct {
	year, month, day, hour, minute, second, micro int
}

// Range of TIMESTAMP that every version stores (MySQL manual, "The DATE,
// DATETIME, and TIMESTAMP Types").
const (
	firstTimestamp = 1
	lastTimestamp  = 1<<31 - 1
)

// appendDateKey writes DATE as days, DATETIME and TIMESTAMP as
// microseconds since 1970. Only the forms 'YYYY-MM-DD' and 'YYYY-MM-DD hh:mm:ss[.f]' of real
// dates are exact; zero dates, short forms and numbers depend on sql_mode.
func (k *keyPart) appendDateKey(dst, text []byte, kind Kind) ([]byte, bool) {
	m, exact := parseMoment(plainBody(text, kind), k.column.Precision, k.kind != partDate)
	exact = exact && kind == String
	if !exact {
		m = guessMoment(text, kind)
	}
	seconds := m.seconds()
	if k.kind == partTimestamp {
		seconds -= int64(k.offset)
		exact = exact && seconds >= firstTimestamp && seconds <= lastTimestamp
	}
	if k.kind == partDate {
		return binary.BigEndian.AppendUint32(dst, uint32(int32(seconds/86400))^1<<31), exact
	}
	return binary.BigEndian.AppendUint64(dst, uint64(seconds*1e6+int64(m.micro))^1<<63), exact
}

// parseMoment reads the canonical form of a date with, where clock allows it,
// a time of day and at most precision digits of a fraction.
func parseMoment(b []byte, precision int, clock bool) (m moment, ok bool) {
	if len(b) < 10 || b[4] != '-' || b[7] != '-' {
		return m, false
	}
	if !fixedDigits(b[0:4], &m.year) || !fixedDigits(b[5:7], &m.month) || !fixedDigits(b[8:10], &m.day) {
		return m, false
	}
	if m.year < 1000 || m.month < 1 || m.month > 12 || m.day < 1 || m.day > daysIn(m.year, m.month) {
		return m, false
	}
	if len(b) == 10 {
		return m, true
	}
	if !clock || b[10] != ' ' || !m.parseClock(b[11:], precision) {
		return m, false
	}
	return m, m.hour < 24
}

// parseClock reads hh:mm:ss[.ffffff]; hours of two digits.
func (m *moment) parseClock(b []byte, precision int) bool {
	if len(b) < 8 || b[2] != ':' || b[5] != ':' {
		return false
	}
	if !fixedDigits(b[0:2], &m.hour) || !fixedDigits(b[3:5], &m.minute) || !fixedDigits(b[6:8], &m.second) {
		return false
	}
	if m.minute > 59 || m.second > 59 {
		return false
	}
	if len(b) == 8 {
		return true
	}
	fraction := b[9:]
	if b[8] != '.' || len(fraction) == 0 || len(fraction) > min(precision, 6) || !fixedDigits(fraction, &m.micro) {
		return false // more digits than the column has are rounded or cut
	}
	for range 6 - len(fraction) {
		m.micro *= 10
	}
	return true
}

func fixedDigits(b []byte, n *int) bool {
	*n = 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
		*n = *n*10 + int(c-'0')
	}
	return true
}

// guessMoment orders what is not canonical: groups of digits in the order of
// a date, or a number of 8 or 14 digits.
func guessMoment(text []byte, kind Kind) (m moment) {
	fields := [...]*int{&m.year, &m.month, &m.day, &m.hour, &m.minute, &m.second}
	if kind == Int && len(text) >= 8 {
		for i, width := 0, 4; i < len(fields) && len(text) >= width; i++ {
			fixedDigits(text[:width], fields[i])
			text, width = text[width:], 2
		}
		return m
	}
	field, inside := -1, false
	for _, c := range text {
		if c < '0' || c > '9' {
			inside = false
			continue
		}
		if !inside {
			field, inside = field+1, true
		}
		if field >= len(fields) {
			break
		}
		*fields[field] = min(*fields[field]*10+int(c-'0'), 9999)
	}
	return m
}

// seconds since 1970-01-01 in the proleptic Gregorian calendar.
func (m *moment) seconds() int64 {
	year, month := int64(m.year), int64(m.month)
	if month <= 2 {
		year--
		month += 12
	}
	days := 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + int64(m.day) - 719469
	return days*86400 + int64(m.hour)*3600 + int64(m.minute)*60 + int64(m.second)
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// zoneOffset reads a time zone without daylight saving: UTC or +hh:mm.
func zoneOffset(zone string) (seconds int, fixed bool) {
	if equalFold(zone, "UTC") {
		return 0, true
	}
	var hours, minutes int
	if len(zone) != 6 || zone[3] != ':' || zone[0] != '+' && zone[0] != '-' ||
		!fixedDigits([]byte(zone[1:3]), &hours) || !fixedDigits([]byte(zone[4:6]), &minutes) {
		return 0, false
	}
	seconds = hours*3600 + minutes*60
	if zone[0] == '-' {
		seconds = -seconds
	}
	return seconds, true
}

// appendTimeKey accepts [-]hh:mm:ss[.f] with hours of two digits.
func appendTimeKey(dst, text []byte, kind Kind, precision int) ([]byte, bool) {
	body := plainBody(text, kind)
	negative := len(body) > 0 && body[0] == '-'
	if negative {
		body = body[1:]
	}
	var m moment
	exact := kind == String && m.parseClock(body, precision)
	v := (int64(m.hour)*3600+int64(m.minute)*60+int64(m.second))*1e6 + int64(m.micro)
	if negative {
		exact = exact && v != 0
		v = -v
	}
	return binary.BigEndian.AppendUint64(dst, uint64(v)^1<<63), exact
}
