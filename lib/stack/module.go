package stack

import "strings"

// ModuleName returns the file name of a module without its directory, and without what the
// kernel appends to the path of a file that was removed. Names in brackets ([vdso],
// [kernel.kallsyms]) are none of files and stay.
func ModuleName(path string) string {
	path = strings.TrimSuffix(path, " (deleted)")
	if strings.HasPrefix(path, "[") {
		return path
	}
	if base := path[strings.LastIndexByte(path, '/')+1:]; base != "" {
		return base
	}
	return path
}
