package words

import "testing"

func Test(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{Count(0, "CPU"), "0 CPUs"},
		{Count(1, "CPU"), "1 CPU"},
		{Count(int64(2), "NUMA node"), "2 NUMA nodes"},
		{Noun(1, "sample"), "sample"},
		{Noun(-1, "sample"), "samples"},
		{Group("", ","), ""},
		{Group("999", ","), "999"},
		{Group("1000", ","), "1,000"},
		{Group("1234567", " "), "1 234 567"},
	} {
		if test.got != test.want {
			t.Errorf("%q, want %q", test.got, test.want)
		}
	}
}
