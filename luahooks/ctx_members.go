package luahooks

// ContextMembers lists the members of ctx that are values. They are read when
// they are asked for, so walking the table does not find them.
func ContextMembers() []string { return liveMembers() }
