package report

// Hotspots are what the page shows of an event.
func (p *Profile) Hotspots(event int) []hotspot {
	if event >= len(p.events) {
		return nil
	}
	return p.hotspots(p.order(), event)
}
