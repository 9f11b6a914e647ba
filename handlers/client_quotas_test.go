package handlers

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// An entity of very many parts, each before the last, is read in time; of parts of one type the last counts.
func TestManyPartsOfAQuotaEntity(t *testing.T) {
	const many = 500_000
	var entity []kmsg.AlterClientQuotasRequestEntryEntity
	for i := range many {
		entity = append(entity, kmsg.AlterClientQuotasRequestEntryEntity{Type: fmt.Sprintf("%07d", many-i)})
	}
	last := "last"
	entity = append(entity, kmsg.AlterClientQuotasRequestEntryEntity{Type: "0000001", Name: &last})
	parts := quotaParts(entity)
	if len(parts) != many || parts[0].kind != "0000001" || parts[0].name != &last {
		t.Fatalf("%d parts, first %+v", len(parts), parts[0])
	}
	for i := 1; i < many; i++ {
		if parts[i-1].kind >= parts[i].kind {
			t.Fatalf("part %d is out of order", i)
		}
	}
}
