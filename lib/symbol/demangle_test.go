package symbol

import (
	"strconv"
	"strings"
	"testing"
)

// TestDemangle has what perf 6.1 prints for each name.
func TestDemangle(t *testing.T) {
	for name, want := range map[string]string{
		"main":                                  "main",
		"_Z1fi":                                 "f",
		"_Z1fi.cold":                            "f",
		"_Z1fi.part.0":                          "f",
		"_ZN5outer3boxIdEC1Ed":                  "outer::box<double>::box",
		"_ZNK5outer12_GLOBAL__N_15point4normEv": "outer::(anonymous namespace)::point::norm",
		"_ZNSt6vectorIiSaIiEE17_M_realloc_insertIJiEEEvN9__gnu_cxx17__normal_iteratorIPiS1_EEDpOT_": "std::vector<int, std::allocator<int> >::_M_realloc_insert<int>",
		"_ZZ6sortedRSt6vectorIiSaIiEEiENKUliiE_clEii":                                               "sorted(std::vector<int, std::allocator<int> >&, int)::{lambda(int, int)#1}::operator()",
		"_ZN5outermlERKNS_12_GLOBAL__N_15pointES3_":                                                 "outer::operator*",
		"_ZTV3box":                               "vtable for box",
		"_ZN4core3fmt5write17h0123456789abcdefE": "core::fmt::write",
		"_RNvNtCs8NwYtU1Mohg_4core3fmt5write":    "core::fmt::write",
		"_ZNot mangled":                          "_ZNot mangled",
		"_Zebra":                                 "_Zebra",
		"camlStdlib__List__map_154":              "Stdlib.List.map_154",
		"camlStdlib__$3e$3e_1":                   "Stdlib.>>_1",
		"camlp4":                                 "camlp4",
		"main.(*T).Method":                       "main.(*T).Method",
	} {
		if got := demangle(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestDemangleBomb spells out a name that doubles with every 11 bytes.
func TestDemangleBomb(t *testing.T) {
	name := "_Z1fI1aIiiE"
	for i := range 22 {
		back := strings.ToUpper(strconv.FormatInt(int64(i+1), 36))
		name += "S0_IS" + back + "_S" + back + "_E"
	}
	name += "Evv"
	if got := demangle(name); !strings.HasPrefix(got, "f<a<int, int>, a<a<") || len(got) > 1<<nameBits {
		t.Errorf("%d bytes: %.40s", len(got), got)
	}
}
