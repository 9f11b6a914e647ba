package handlers

import (
	"reflect"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/wire"
)

// answeredList says which list of an answer has an entry for each entry of which list of the request.
type answeredList struct {
	asked, answered string
	deep            bool // lists within the entries too, by equal names
}

// answeredLists are the lists of the APIs whose refusal tells what was asked for.
var answeredLists = map[int16]answeredList{
	0: {"Topics", "Topics", true}, 2: {"Topics", "Topics", true}, 3: {"Topics", "Topics", false}, 8: {"Topics", "Topics", true},
	9: {"Groups", "Groups", false}, 10: {"CoordinatorKeys", "Coordinators", false}, 15: {"Groups", "Groups", false},
	19: {"Topics", "Topics", false}, 20: {"Topics", "Topics", false}, 21: {"Topics", "Topics", true}, 23: {"Topics", "Topics", true},
	27: {"Markers", "Markers", true}, 28: {"Topics", "Topics", true}, 30: {"Creations", "Results", false}, 31: {"Filters", "Results", false},
	32: {"Resources", "Resources", false}, 33: {"Resources", "Resources", false}, 37: {"Topics", "Topics", false}, 42: {"Groups", "Groups", false},
	43: {"Topics", "Topics", true}, 44: {"Resources", "Resources", false}, 45: {"Topics", "Topics", true}, 46: {"Topics", "Topics", true},
	49: {"Entries", "Entries", true}, 50: {"Users", "Results", false}, 61: {"Topics", "Topics", true},
	65: {"TransactionalIDs", "TransactionStates", false}, 69: {"Groups", "Groups", false}, 75: {"Topics", "Topics", false},
	77: {"GroupIDs", "Groups", false}, 89: {"Groups", "Groups", false}, 90: {"Groups", "Groups", false},
}

// listAnswered is the list of a version: some had others, or none.
func listAnswered(r *wire.Request) (l answeredList, has bool) {
	l, has = answeredLists[r.Key]
	switch req := r.Body.(type) {
	case *kmsg.FetchRequest:
		return answeredList{"Topics", "Topics", true}, req.Version < 7
	case *kmsg.AddPartitionsToTxnRequest:
		return answeredList{"Topics", "Topics", true}, req.Version < 4
	case *kmsg.OffsetFetchRequest:
		if req.Version < 8 {
			return answeredList{"Topics", "Topics", true}, req.Version < 2
		}
	case *kmsg.DeleteTopicsRequest:
		if req.Version < 6 {
			l.asked = "TopicNames"
		}
	}
	return l, has
}

// mirror gives a list of an answer an entry, with the code and the text, for each entry of a list of the request.
func mirror(asked, answered reflect.Value, text *string, deep bool) {
	for i := range asked.Len() {
		entry := reflect.New(answered.Type().Elem())
		if d, has := entry.Interface().(interface{ Default() }); has {
			d.Default()
		}
		refuseEntry(entry.Elem(), text)
		if from := asked.Index(i); from.Kind() == reflect.Struct {
			identify(from, entry.Elem(), text, deep)
		} else {
			setFirst(entry.Elem(), from)
		}
		answered.Set(reflect.Append(answered, entry.Elem()))
	}
}

func refuseEntry(entry reflect.Value, text *string) {
	if code := entry.FieldByName("ErrorCode"); code.IsValid() {
		code.SetInt(int64(illegalSASLState))
	}
	if message := entry.FieldByName("ErrorMessage"); message.IsValid() {
		message.Set(reflect.ValueOf(text))
	}
}

// identifying are the fields that say what an entry is about.
var identifying = []string{"Topic", "TopicID", "Partition", "Group", "GroupID", "TransactionalID", "Key", "ResourceType", "ResourceName", "Type", "Name", "ProducerID"}

// identify takes over what says what an entry is about.
func identify(from, to reflect.Value, text *string, deep bool) {
	for _, name := range identifying {
		if source, target := from.FieldByName(name), to.FieldByName(name); source.IsValid() && target.IsValid() {
			take(source, target)
		}
	}
	if !deep {
		return
	}
	for _, name := range []string{"Topics", "Partitions", "Entity"} {
		if source, target := from.FieldByName(name), to.FieldByName(name); source.IsValid() && target.IsValid() {
			mirror(source, target, text, deep)
		}
	}
}

// setFirst puts a name or a number that stood by itself into the first field that says what the entry is about.
func setFirst(to, value reflect.Value) {
	for _, name := range identifying {
		if target := to.FieldByName(name); target.IsValid() && take(value, target) {
			return
		}
	}
}

// take copies a value, into a pointer too, if it is of the field's type.
func take(value, target reflect.Value) bool {
	switch {
	case value.Type() == target.Type():
		target.Set(value)
	case target.Kind() == reflect.Pointer && target.Type().Elem() == value.Type():
		p := reflect.New(value.Type())
		p.Elem().Set(value)
		target.Set(p)
	default:
		return false
	}
	return true
}

// outOfPlaceList fills the list of what was asked for.
func outOfPlaceList(r *wire.Request, resp kmsg.Response) {
	l, has := listAnswered(r)
	if !has {
		return
	}
	asked, answered := reflect.ValueOf(r.Body).Elem().FieldByName(l.asked), reflect.ValueOf(resp).Elem().FieldByName(l.answered)
	mirror(asked, answered, outOfPlaceText(r.Key), l.deep)
}

// outOfPlaceRecords says of records and offsets that there are none.
func outOfPlaceRecords(answer kmsg.Response) {
	switch resp := answer.(type) {
	case *kmsg.ProduceResponse:
		for _, t := range resp.Topics {
			for i := range t.Partitions {
				t.Partitions[i].BaseOffset = -1
			}
		}
	case *kmsg.FetchResponse:
		for _, t := range resp.Topics {
			for i := range t.Partitions {
				p := &t.Partitions[i]
				p.HighWatermark, p.AbortedTransactions, p.RecordBatches = -1, []kmsg.FetchResponseTopicPartitionAbortedTransaction{}, []byte{}
			}
		}
	case *kmsg.OffsetFetchResponse:
		for _, t := range resp.Topics {
			for i := range t.Partitions {
				t.Partitions[i].Offset, t.Partitions[i].Metadata = -1, text("")
			}
		}
	case *kmsg.DeleteRecordsResponse:
		for _, t := range resp.Topics {
			for i := range t.Partitions {
				t.Partitions[i].LowWatermark = -1
			}
		}
	}
}
