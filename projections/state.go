package projections

import (
	"fmt"

	"doze/journal"
)

// State is everything the control journal says. The zero value is not usable: see [New].
type State struct {
	// ClusterID is Kafka's cluster id as clients see it: 22 characters of URL-safe base64. Empty before ClusterCreated.
	ClusterID string
	// Starts counts BrokerStarted events. A partition's leader epoch is twice the starts since it was created.
	Starts int32
	// NextProducerID is the first producer id that was never handed out.
	NextProducerID int64

	Topics    Topics
	LogStarts LogStarts
	Configs   Configs
	Groups    Groups
	Offsets   Offsets

	Features     Features
	Transactions Transactions
	Staged       Staged
	Markers      UnsyncedMarkers

	ShareStates ShareStates

	ACLs             ACLs
	Quotas           Quotas
	ScramUsers       ScramUsers
	DelegationTokens DelegationTokens

	Registry Registry
}

// New is the state before the first event.
func New() *State {
	return &State{
		Topics: newTopics(), LogStarts: newLogStarts(), Configs: newConfigs(), Groups: newGroups(), Offsets: newOffsets(),
		Features: newFeatures(), Transactions: newTransactions(), Staged: newStaged(), Markers: newUnsyncedMarkers(),
		ShareStates: newShareStates(), ACLs: newACLs(), Quotas: newQuotas(), ScramUsers: newScramUsers(), DelegationTokens: newDelegationTokens(), Registry: newRegistry(),
	}
}

// Clone gives a state that changes independently of s, in O(1): trees are shared until they are changed.
func (s *State) Clone() *State {
	c := *s
	c.Topics = s.Topics.clone()
	c.LogStarts = s.LogStarts.clone()
	c.Configs = s.Configs.clone()
	c.Groups = s.Groups.clone()
	c.Offsets = s.Offsets.clone()
	c.Features = s.Features.clone()
	c.Transactions = s.Transactions.clone()
	c.Staged = s.Staged.clone()
	c.Markers = s.Markers.clone()
	c.ShareStates = s.ShareStates.clone()
	c.ACLs = s.ACLs.clone()
	c.Quotas = s.Quotas.clone()
	c.ScramUsers = s.ScramUsers.clone()
	c.DelegationTokens = s.DelegationTokens.clone()
	c.Registry = s.Registry.clone()
	return &c
}

// Apply folds one event of the entry that was made at the time at (ms). An event that does not fit what is true so far is
// an error: the journal belongs to something else, or a decision was wrong.
func (s *State) Apply(seq uint64, at int64, event journal.Event) error {
	switch e := event.(type) {
	case *journal.ClusterCreated:
		return s.applyClusterCreated(e)
	case *journal.BrokerStarted:
		s.Starts++
		return nil
	case *journal.TopicCreated:
		return s.applyTopicCreated(at, e)
	case *journal.TopicDeleted:
		return s.applyTopicDeleted(e)
	case *journal.PartitionsAdded:
		return s.applyPartitionsAdded(e)
	case *journal.ConfigsAltered:
		return s.applyConfigsAltered(e)
	case *journal.RecordsDeleted:
		return s.applyRecordsDeleted(e)
	case *journal.ProducerIDsAllocated:
		return s.applyProducerIDsAllocated(e)
	case *journal.FeatureUpdated:
		s.applyFeatureUpdated(e)
		return nil
	case *journal.ClientQuotasAltered:
		return s.applyClientQuotasAltered(e)
	case *journal.DamageAccepted:
		return nil
	}
	if known, err := s.applyOfTxn(seq, at, event); known {
		return err
	}
	if known, err := s.applyOfGroup(seq, at, event); known {
		return err
	}
	if known, err := s.applyOfACL(event); known {
		return err
	}
	if known, err := s.applyOfUser(event); known {
		return err
	}
	if known, err := s.applyOfToken(event); known {
		return err
	}
	if known, err := s.applyOfRegistry(at, event); known {
		return err
	}
	return fmt.Errorf("no projection knows %T", event)
}

func (s *State) applyClusterCreated(e *journal.ClusterCreated) error {
	if s.ClusterID != "" {
		return fmt.Errorf("cluster is already %s, not %s", s.ClusterID, ID(e.ClusterID))
	}
	s.ClusterID = ID(e.ClusterID).String()
	return nil
}

func (s *State) applyProducerIDsAllocated(e *journal.ProducerIDsAllocated) error {
	if e.First != s.NextProducerID || e.Count <= 0 {
		return fmt.Errorf("producer ids %d+%d do not follow %d", e.First, e.Count, s.NextProducerID)
	}
	s.NextProducerID = e.First + int64(e.Count)
	return nil
}
