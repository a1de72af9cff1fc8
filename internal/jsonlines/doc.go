// Package jsonlines carries records of JSON between two programs, one record on each line.
//
// A [Reader] returns the lines of a stream whatever their size and their shape, and goes on
// behind those that are too long; it does not look into them:
//
//	in := jsonlines.NewReader(os.Stdin)
//	for {
//		line, err := in.Next()
//		switch {
//		case errors.Is(err, jsonlines.ErrTooLong): // the line was skipped
//		case err != nil: // io.EOF: the stream is at its end
//		default: // line is the caller's
//		}
//	}
//
// A [Writer] writes records that any number of goroutines put into it, in the order in
// which they did, and never one inside another:
//
//	out := jsonlines.NewWriter(os.Stdout)
//	err := out.Write(record) // waits while 8 MiB wait for the other program
//	…
//	err = out.Close(ctx) // everything is written, or ctx is done
//
// Lines end with LF only, in both directions; a CR before it is dropped when reading.
// Neither wakes up while nothing happens.
package jsonlines
