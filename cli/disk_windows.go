package cli

import "golang.org/x/sys/windows"

// freeSpace is how many bytes a user can still write to the disk of a folder.
func freeSpace(dir string) (int64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return int64(free), err
}

// checkWritable cannot tell here without writing.
func checkWritable(string) error { return nil }
