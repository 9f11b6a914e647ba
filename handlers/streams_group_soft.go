package handlers

import (
	"sync"
	"sync/atomic"

	"doze/projections"
)

// streamsSoft is what the coordinator knows of a streams group beside the state, as Kafka's does: a restart forgets it. It
// belongs to decisions, of which there is one at a time; only configured is read beside them.
type streamsSoft struct {
	configured atomic.Pointer[configuredTopology]
	topics     *projections.Revision // of the topics that configured was held against last
	hash       uint64                // over those that the topology needs
	endpoints  int32                 // the epoch of the members' endpoints
	shutdown   string                // the member that asked the application to shut down
	// delayed is when the initial delay ends (ms). Past that it counts for nothing, should its deadline have been lost.
	delayed int64
}

// streamsSofts holds them by group.
type streamsSofts struct {
	mu     sync.Mutex
	groups map[string]*streamsSoft
}

// of gives that of a group that is there.
func (s *streamsSofts) of(group string) *streamsSoft {
	s.mu.Lock()
	defer s.mu.Unlock()
	soft := s.groups[group]
	if soft == nil {
		soft = &streamsSoft{}
		if s.groups == nil {
			s.groups = map[string]*streamsSoft{}
		}
		s.groups[group] = soft
	}
	return soft
}

// drop forgets a group that is gone, or of another type.
func (s *streamsSofts) drop(group string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.groups, group)
}
