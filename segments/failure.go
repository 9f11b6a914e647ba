package segments

// Cause is what the storage failed at.
type Cause uint8

// Causes.
const (
	Opening Cause = iota + 1
	Writing
	Syncing
)

func (c Cause) String() string {
	switch c {
	case Opening:
		return "open"
	case Writing:
		return "write"
	default:
		return "sync"
	}
}

// tell reports a failure, the first of its cause only: a disk that is full would fill the log too.
func (p *Partition) tell(c Cause, err error) {
	if bit := uint32(1) << c; p.told.Or(bit)&bit == 0 {
		p.dir.report(Report{Partition: p.id, Failure: err, Cause: c})
	}
}
