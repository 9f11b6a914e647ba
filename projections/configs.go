package projections

import (
	"cmp"
	"fmt"
	"strings"

	"doze/journal"
)

// Resource types of configs, as Kafka numbers them (org.apache.kafka.common.config.ConfigResource).
const (
	TopicResource         int8 = 2
	BrokerResource        int8 = 4
	BrokerLoggerResource  int8 = 8
	ClientMetricsResource int8 = 16
	GroupResource         int8 = 32
)

// Config is one value that somebody set on a resource. What nobody set is not here: defaults are resolved elsewhere.
type Config struct {
	Type     int8
	Resource string
	Name     string
	Value    string
}

// Configs holds the set values by resource type, resource and name.
type Configs struct {
	tree tree[Config]
	// revision is another one after each change, for those who keep something that they have worked out from the values. It
	// is no part of what the journal says. An address, not a count: after a decision that was dropped a count would come
	// again, for other values.
	revision *Revision
	bytes    int64
}

// Revision is the identity of the values that somebody set.
type Revision struct{ _ byte }

func newConfigs() Configs {
	return Configs{revision: new(Revision), tree: newTree(func(a, b Config) bool {
		return cmp.Or(cmp.Compare(a.Type, b.Type), strings.Compare(a.Resource, b.Resource), strings.Compare(a.Name, b.Name)) < 0
	})}
}

func (c *Configs) clone() Configs { return Configs{c.tree.clone(), c.revision, c.bytes} }

// Revision differs between two states of one process whose set values differ.
func (c Configs) Revision() *Revision { return c.revision }

// Get is the value set on a resource.
func (c Configs) Get(resourceType int8, resource, name string) (value string, set bool) {
	row, set := c.tree.Get(Config{Type: resourceType, Resource: resource, Name: name})
	return row.Value, set
}

// Of yields the values set on one resource, in name order.
func (c Configs) Of(resourceType int8, resource string, yield func(Config) bool) {
	c.tree.AscendGreaterOrEqual(Config{Type: resourceType, Resource: resource}, func(row Config) bool {
		return row.Type == resourceType && row.Resource == resource && yield(row)
	})
}

// Resources yields, in order, the names of the resources of a type that have a value set.
func (c Configs) Resources(resourceType int8, yield func(resource string) bool) {
	last, any := "", false
	c.tree.AscendGreaterOrEqual(Config{Type: resourceType}, func(row Config) bool {
		if row.Type != resourceType {
			return false
		}
		if any && row.Resource == last {
			return true
		}
		last, any = row.Resource, true
		return yield(row.Resource)
	})
}

// Map gives the values set on one resource; nil when there are none.
func (c Configs) Map(resourceType int8, resource string) map[string]string {
	var values map[string]string
	c.Of(resourceType, resource, func(row Config) bool {
		if values == nil {
			values = map[string]string{}
		}
		values[row.Name] = row.Value
		return true
	})
	return values
}

func (c *Configs) put(row Config) {
	if old, had := c.tree.ReplaceOrInsert(row); had {
		c.bytes -= old.Bytes()
	}
	c.bytes += row.Bytes()
	c.revision = new(Revision)
}

func (c *Configs) remove(resourceType int8, resource, name string) {
	if old, had := c.tree.Delete(Config{Type: resourceType, Resource: resource, Name: name}); had {
		c.bytes -= old.Bytes()
	}
	c.revision = new(Revision)
}

func (c *Configs) dropResource(resourceType int8, resource string) {
	var names []string
	c.Of(resourceType, resource, func(row Config) bool { names = append(names, row.Name); return true })
	for _, name := range names {
		c.remove(resourceType, resource, name)
	}
}

func (s *State) applyConfigsAltered(e *journal.ConfigsAltered) error {
	if e.ResourceType == TopicResource && s.Topics.Named(e.Resource) == nil {
		return fmt.Errorf("topic %q is not there", e.Resource)
	}
	for _, name := range e.Removed {
		s.Configs.remove(e.ResourceType, e.Resource, name)
	}
	for _, pair := range e.Set {
		s.Configs.put(Config{Type: e.ResourceType, Resource: e.Resource, Name: pair.Name, Value: pair.Value})
	}
	return nil
}
