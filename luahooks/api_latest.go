package luahooks

import "context"

// replaceable is what a hook registered and others still have when the hook is
// reloaded: a tool, a command, a model.
type replaceable[T any] interface {
	instance() *instance
	// successor is what another version of the hook registered in its place.
	successor(now *Registered) (T, bool)
}

// latest calls call with an item. While that does not begin because the item's VM is
// no more, it is called again with the item's successor, if the hook has one. latest
// returns the item that was called last.
func latest[T replaceable[T]](ctx context.Context, item T, call func(T) error) (T, error) {
	err := call(item)
	for tries := 0; isReplaced(err) && tries < maxReplaced; tries++ {
		in := item.instance()
		in.chain.revive(ctx, in.hook, in)
		next, ok := item.successor(in.hook.registered())
		if !ok {
			break
		}
		item = next
		err = call(item)
	}
	return item, err
}
