package main

import (
	"vperf/lib/event"
	"vperf/lib/record"
)

// A catalogue is what is known of events: what the input says of them, else what package
// event knows by their names.
type catalogue map[string]record.Event

// learn takes what the input says. What was said first stays.
func (c catalogue) learn(e record.Event) {
	if _, ok := c[e.Name]; !ok && (e.Unit != "" || e.Kind != "") {
		c[e.Name] = e
	}
}

// of returns what is known of an event, without an id.
func (c catalogue) of(name string) record.Event {
	e := record.Event{Name: name, Unit: event.UnitOf(name), Kind: event.KindOf(name)}
	if said, ok := c[name]; ok {
		if said.Unit != "" {
			e.Unit = said.Unit
		}
		if said.Kind != "" {
			e.Kind = said.Kind
		}
	}
	return e
}
