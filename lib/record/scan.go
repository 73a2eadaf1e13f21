package record

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// A scanner takes a line apart that it knows the shape of. Anything unexpected sets odd,
// and the caller starts over with the library.
type scanner struct {
	b   []byte
	i   int
	odd bool
}

// has takes text if it comes next.
func (s *scanner) has(text string) bool {
	if end := s.i + len(text); end <= len(s.b) && string(s.b[s.i:end]) == text {
		s.i = end
		return true
	}
	return false
}

// want takes text, which must come next.
func (s *scanner) want(text string) {
	if !s.has(text) {
		s.odd = true
	}
}

// end tells whether the line ends here, and all of it was as expected.
func (s *scanner) end() bool { return s.has("}") && s.i == len(s.b) && !s.odd }

// uint takes an unsigned integer.
func (s *scanner) uint() uint64 {
	b, i := s.b, s.i
	var n uint64
	for ; i < len(b); i++ {
		d := b[i] - '0'
		if d > 9 {
			break
		}
		n = n*10 + uint64(d)
	}
	digits := i - s.i
	// 19 digits cannot overflow; a leading zero is not JSON.
	if digits == 0 || digits > 19 || digits > 1 && b[s.i] == '0' {
		s.odd = true
		return 0
	}
	s.i = i
	return n
}

func (s *scanner) int() int64 {
	minus := s.i < len(s.b) && s.b[s.i] == '-'
	if minus {
		s.i++
	}
	n := s.uint()
	if n > math.MaxInt64 {
		s.odd = true
		return 0
	}
	if minus {
		return -int64(n)
	}
	return int64(n)
}

func (s *scanner) id() ID {
	n := s.uint()
	if n > math.MaxUint32 {
		s.odd = true
		return 0
	}
	return ID(n)
}

// bytes takes a string without escapes; the result points into the line.
func (s *scanner) bytes() []byte {
	if s.i >= len(s.b) || s.b[s.i] != '"' {
		s.odd = true
		return nil
	}
	from := s.i + 1
	i, wide := from, false
	for {
		i += plainASCII(s.b[i:])
		if i >= len(s.b) {
			s.odd = true
			return nil
		}
		if c := s.b[i]; c < utf8.RuneSelf {
			if c != '"' {
				s.odd = true
				return nil
			}
			break
		}
		wide = true
		i++
	}
	s.i = i + 1
	text := s.b[from:i]
	if wide && !utf8.Valid(text) {
		s.odd = true
	}
	return text
}

func (s *scanner) text() string { return string(s.bytes()) }

// again takes a string that is likely to be the one of the record before, and then costs
// no allocation.
func (s *scanner) again(last string) string {
	b := s.bytes()
	if last == string(b) {
		return last
	}
	return string(b)
}

func (s *scanner) kind() FrameKind {
	switch b := s.bytes(); string(b) {
	case "user":
		return KindUser
	case "kernel":
		return KindKernel
	case "unknown":
		return KindUnknown
	default:
		return FrameKind(b)
	}
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plainASCII returns the length of the longest prefix of b that stands for itself in a JSON
// string: printable ASCII without quote and backslash. Eight bytes at a time: for each byte
// of x the high bit of (x-ones*n)&^x says whether it is below n, exactly so for the lowest
// byte that has one.
func plainASCII(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, slash := x^(ones*'"'), x^(ones*'\\')
		special := ((x-ones*0x20)&^x | (quote-ones)&^quote | (slash-ones)&^slash | x) & highs
		if special != 0 {
			return i + bits.TrailingZeros64(special)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < 0x20 || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			break
		}
	}
	return i
}

func appendUint(b []byte, n uint64) []byte { return strconv.AppendUint(b, n, 10) }
func appendInt(b []byte, n int64) []byte   { return strconv.AppendInt(b, n, 10) }

// appendKnown appends key and n unless n is [None].
func appendKnown(b []byte, key string, n int64) []byte {
	if n == None {
		return b
	}
	return appendInt(append(b, key...), n)
}

// appendText appends key and s as a JSON string unless s is empty. Bytes that are not
// UTF-8 become U+FFFD.
func appendText(b []byte, key, s string) []byte {
	if s == "" {
		return b
	}
	b = append(append(b, key...), '"')
	from := len(b)
	b = append(b, s...)
	n := plainASCII(b[from:])
	b = b[:from+n]
	for s = s[n:]; s != ""; {
		r, size := utf8.DecodeRuneInString(s)
		b = appendRune(b, r, s[:size])
		s = s[size:]
	}
	return append(b, '"')
}

func appendRune(b []byte, r rune, as string) []byte {
	const hex = "0123456789abcdef"
	switch {
	case r == '"' || r == '\\':
		return append(b, '\\', byte(r))
	case r == '\n':
		return append(b, '\\', 'n')
	case r == '\r':
		return append(b, '\\', 'r')
	case r == '\t':
		return append(b, '\\', 't')
	case r < 0x20:
		return append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
	case r == utf8.RuneError && len(as) == 1:
		return utf8.AppendRune(b, utf8.RuneError)
	}
	return append(b, as...)
}
