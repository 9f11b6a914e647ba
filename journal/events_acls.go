package journal

// AclCreated: from here on this ACL (access control list entry) holds. Numbers are the protocol's: AclOperation, AclPermissionType, ResourceType and
// PatternType. There is no id: an ACL is what it says, and no two say the same.
type AclCreated struct {
	Type       int8   `msgpack:"t"` // of the resource: 2 topic, 3 group, 4 cluster, 5 transactional id, 6 delegation token, 7 user
	Name       string `msgpack:"n"` // of the resource, "*" for any, or what names begin with
	Pattern    int8   `msgpack:"k"` // 3 literal, 4 prefixed
	Principal  string `msgpack:"p"` // "User:alice", "User:*" for anybody
	Host       string `msgpack:"h"` // an address, "*" for any
	Operation  int8   `msgpack:"o"` // 2 all, 3 to 15 one
	Permission int8   `msgpack:"a"` // 2 deny, 3 allow
}

func (*AclCreated) Kind() Kind { return 110 }

// AclDeleted: the ACL that says this holds no longer.
type AclDeleted struct {
	Type       int8   `msgpack:"t"`
	Name       string `msgpack:"n"`
	Pattern    int8   `msgpack:"k"`
	Principal  string `msgpack:"p"`
	Host       string `msgpack:"h"`
	Operation  int8   `msgpack:"o"`
	Permission int8   `msgpack:"a"`
}

func (*AclDeleted) Kind() Kind { return 111 }
