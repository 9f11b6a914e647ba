package wire

// The contract of this package with handlers, to be filled (see doc.go).
//
//	Request{Conn *Conn; Key, Version int16; Correlation int32; ClientID string; Body kmsg.Request; Received time.Time; Size int}
//	  Conn: ID uint64, Listener (name, advertised host and port as this connection must see it), Remote, Local addresses,
//	        ClientSoftware name/version (set by the ApiVersions handler), Principal ("User:ANONYMOUS" for now), Context() done when the connection closes
//	  Body's []byte fields alias the frame's buffer: valid until the reply is written
//
//	APIs interface {                     // implemented by handlers' table
//	    Lookup(key, version int16) (Handle, bool)     // false closes the connection
//	}
//	Handle func(ctx context.Context, r *Request) (Reply, error)        // an error closes the connection
//	Reply: a kmsg.Response, or one of
//	    Chunked  (a frame body as byte slices and file sections; Fetch)
//	    Later    (Resolve(ctx) (kmsg.Response, error), run while the next request of the connection is already in hand; Produce with acks)
//	    nil      (acks=0: no bytes, takes no place in the order)
//
//	NewServer(Options, APIs) *Server; Listen(...) ; Serve(ctx); Shutdown(ctx)
//	Observer: Request/Answer callbacks; nil costs a nil check
