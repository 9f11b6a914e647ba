package jsonschema

import "strconv"

func (c *comparison) arrays(original, update *Schema) {
	c.under("items", func() { c.compare(original.items, update.items) })
	c.tuples(original, update)
	c.under("additionalItems", func() {
		c.additional("ADDITIONAL_ITEMS", original.noMoreItems, update.noMoreItems, original.moreItems, update.moreItems)
	})
	c.under("unevaluatedItems", func() {
		c.unevaluatedSchemas("UNEVALUATED_ITEMS", original.unevaluatedItems, update.unevaluatedItems)
	})
	c.bound("maxItems", "MAX_ITEMS", original.maxItems, update.maxItems)
	c.bound("minItems", "MIN_ITEMS", original.minItems, update.minItems)
	switch {
	case original.unique && !update.unique:
		c.addUnder("uniqueItems", "UNIQUE_ITEMS_REMOVED")
	case !original.unique && update.unique:
		c.addUnder("uniqueItems", "UNIQUE_ITEMS_ADDED")
	}
	c.bound("maxContains", "MAX_CONTAINS", original.maxContains, update.maxContains)
	c.bound("minContains", "MIN_CONTAINS", original.minContains, update.minContains)
}

func (c *comparison) tuples(original, update *Schema) {
	for i := range max(len(original.tuple), len(update.tuple)) {
		c.under("items/"+strconv.Itoa(i), func() {
			switch {
			case i >= len(update.tuple):
				c.itemRemoved(original.tuple[i], update)
			case i >= len(original.tuple):
				c.itemAdded(original, update.tuple[i])
			default:
				c.compare(original.tuple[i], update.tuple[i])
			}
		})
	}
}

func (c *comparison) itemRemoved(item, update *Schema) {
	covering := update.coveringItem()
	switch {
	case update.openItems():
		c.add("ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL")
	case covering != nil:
		c.covered("ITEM_REMOVED", item, covering)
	case item.Class == False:
		c.add("ITEM_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL")
	default:
		c.add("ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL")
	}
}

func (c *comparison) itemAdded(original, item *Schema) {
	covering := original.coveringItem()
	switch {
	case original.openItems() && item.permitsAll():
		c.add("ITEM_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL")
	case original.openItems():
		c.add("ITEM_ADDED_TO_OPEN_CONTENT_MODEL")
	case covering != nil:
		c.covered("ITEM_ADDED", covering, item)
	default:
		c.add("ITEM_ADDED_TO_CLOSED_CONTENT_MODEL")
	}
}

func (s *Schema) openItems() bool {
	return !s.noMoreItems && s.moreItems == nil && (s.unevaluatedItems == nil || s.unevaluatedItems.permitsAll())
}

func (s *Schema) coveringItem() *Schema {
	if s.moreItems != nil {
		return s.moreItems
	}
	if u := s.unevaluatedItems; !s.noMoreItems && u != nil && u.Class != False && !u.permitsAll() {
		return u
	}
	return nil
}
