// Package pprof writes and reads profiles of `go tool pprof`: gzip over the protocol buffer
// perftools.profiles.Profile, which
// https://github.com/google/pprof/blob/main/proto/profile.proto describes. The package
// github.com/google/pprof/profile encodes and decodes it.
package pprof
