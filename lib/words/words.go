// Package words has the small pieces that sentences and tables for people are made of.
package words

import (
	"fmt"
	"strings"
)

// Noun returns the noun as it stands behind the number n. Only an s is ever added to it.
func Noun[N int | int64](n N, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// Count returns "1 sample", "2 samples".
func Count[N int | int64](n N, noun string) string {
	return fmt.Sprint(n, " ", Noun(n, noun))
}

// Group puts a separator between the thousands of a string of digits: 1,234,567.
func Group(digits, separator string) string {
	var b strings.Builder
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteString(separator)
		}
		b.WriteByte(digits[i])
	}
	return b.String()
}
