//go:build unix && !linux

package process

// onlyZombies and isZombie cannot be told here.
func onlyZombies(int) bool { return false }

func isZombie(int) bool { return false }
