package record

// Cause says in one word why something is missing, so that a script can branch on it.
// The vocabulary is closed: add a word here rather than invent one at its use.
type Cause string

// The causes.
const (
	CausePerfMissing       Cause = "perf_missing"
	CausePerfEventParanoid Cause = "perf_event_paranoid"
	CauseNoPerfEvents      Cause = "no_perf_events"
	CauseNoPMU             Cause = "no_pmu"
	CauseEventUnsupported  Cause = "event_unsupported"
	CauseEventNotCounted   Cause = "event_not_counted"
	CauseMultiplexed       Cause = "multiplexed"
	CausePerfRecordFailed  Cause = "perf_record_failed"
	CauseNoSamples         Cause = "no_samples"
	CauseTimedOut          Cause = "timed_out"
	CauseNotLinux          Cause = "not_linux"
	CauseTracefsDenied     Cause = "tracefs_denied"
	CauseAttachRefused     Cause = "attach_refused"
	CauseTargetNotFound    Cause = "target_not_found"
	CauseTargetExitedEarly Cause = "target_exited_early"
	CauseNotThreaded       Cause = "not_threaded"
	CauseThreadsMoved      Cause = "threads_moved"
	CauseLostSamples       Cause = "lost_samples"
	CauseTruncatedInput    Cause = "truncated_input"
	CauseBadInput          Cause = "bad_input"
	CauseSymbolsMissing    Cause = "symbols_missing"
	CauseBrokenStacks      Cause = "broken_stacks"
	CauseDisabled          Cause = "disabled"
	CauseRunFailed         Cause = "run_failed"
	CauseEventsUnsupported Cause = "events_unsupported"
	CauseNoMeasuredRep     Cause = "no_measured_rep"
	CauseNotOpenMP         Cause = "not_openmp"
	CausePAPIMissing       Cause = "papi_missing"
	CausePAPIInitFailed    Cause = "papi_init_failed"
	CauseNotNative         Cause = "not_native"
)
