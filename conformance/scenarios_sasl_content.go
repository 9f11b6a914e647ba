package conformance

import (
	"reflect"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// runSASLMiddleContent sends each API's newest and oldest request, with something in every list of it, where a token is due.
func runSASLMiddleContent(c *C) {
	for _, r := range advertised {
		if r.key == 17 || r.key == 36 || leftOut(r.key) {
			continue
		}
		name := "filled-" + hyphenated(kmsg.NameForKey(r.key))
		middle(c, name, r.max, filledRequest(r.key))
		if r.min < r.max {
			middle(c, name+"-oldest", r.min, filledRequest(r.key))
		}
	}
	middle(c, "filled-offset-fetch-v7", 7, filledRequest(9))
	unread := filledRequest(0).(*kmsg.ProduceRequest)
	unread.Topics[0].Partitions[0].Records = nil
	middle(c, "filled-produce-without-records", maxAdvertised(0), unread)
	users := kmsg.NewPtrDescribeUserSCRAMCredentialsRequest()
	users.Users = []kmsg.DescribeUserSCRAMCredentialsRequestUser{}
	middle(c, "no-users-of-describe-user-scram-credentials", 0, users)
}

// filledRequest has one of everything that a request can list, named "a", and kinds that are known.
func filledRequest(key int16) kmsg.Request {
	req := kmsg.RequestForKey(key)
	fillOne(reflect.ValueOf(req).Elem())
	switch r := req.(type) {
	case *kmsg.ProduceRequest:
		r.Acks, r.TransactionID, r.Topics[0].Partitions[0].Records = 1, nil, Values("v").Bytes()
	case *kmsg.OffsetFetchRequest:
		r.Group, r.Topics = "a", []kmsg.OffsetFetchRequestTopic{{Topic: "a", Partitions: []int32{0}}}
	case *kmsg.JoinGroupRequest:
		r.ProtocolType = "consumer"
	}
	return req
}

// kindsThatAreKnown are fields whose zero stands for nothing: a filter or a resource of kind 0 is not read by Kafka.
var kindsThatAreKnown = map[string]int64{
	"ResourceType": 2, "ResourcePatternType": 3, "Operation": 3, "PermissionType": 3, "PrincipalType": 0, "CoordinatorType": 0, "UpgradeType": 1,
}

func fillOne(v reflect.Value) {
	for i := range v.NumField() {
		name, f := v.Type().Field(i).Name, v.Field(i)
		switch {
		case name == "Version" || name == "UnknownTags" || name == "Records":
		case f.Kind() == reflect.String:
			f.SetString("a")
		case f.Kind() == reflect.Pointer && f.Type().Elem().Kind() == reflect.String:
			f.Set(reflect.ValueOf(kmsg.StringPtr("a")))
		case f.Kind() == reflect.Slice:
			fillList(f)
		case f.CanInt():
			if kind, known := kindsThatAreKnown[name]; known {
				f.SetInt(kind)
			}
		}
	}
}

// fillList gives a list its one element.
func fillList(f reflect.Value) {
	if f.Type().Elem().Kind() == reflect.Uint8 {
		return
	}
	one := reflect.New(f.Type().Elem())
	if d, has := one.Interface().(interface{ Default() }); has {
		d.Default()
	}
	switch one.Elem().Kind() {
	case reflect.Struct:
		fillOne(one.Elem())
	case reflect.String:
		one.Elem().SetString("a")
	}
	f.Set(reflect.Append(reflect.MakeSlice(f.Type(), 0, 1), one.Elem()))
}
