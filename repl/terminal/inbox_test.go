package terminal

import "testing"

func TestLinesGoToADialogWhileItHasTheInbox(t *testing.T) {
	box := NewInbox()
	box.push("before")
	answers, back := box.Lend()
	box.push("answer")
	if a := <-answers; a.Text != "answer" || a.EOF {
		t.Errorf("the dialog gets %+v", a)
	}
	back()
	box.push("after")
	for _, want := range []string{"before", "after"} {
		if line, ok, eof := box.Take(); line != want || !ok || eof {
			t.Errorf("takes %q %v %v, want %q", line, ok, eof, want)
		}
	}
}

func TestAnEndOfInputRefusesDialogsForGoodOrOnce(t *testing.T) {
	box := NewInbox()
	answers, back := box.Lend()
	box.end(false) // Ctrl+D of a person
	if a := <-answers; !a.EOF {
		t.Errorf("the dialog gets %+v", a)
	}
	back()
	if _, _, eof := box.Take(); eof {
		t.Error("what refused a dialog ends the input as well")
	}
	box.end(true)
	again, _ := box.Lend()
	if a := <-again; !a.EOF {
		t.Errorf("a dialog after the end gets %+v", a)
	}
	for range 2 {
		if _, ok, eof := box.Take(); ok || !eof {
			t.Error("the input goes on after its end")
		}
	}
}

func TestLinesThatAreUnreadComeFirst(t *testing.T) {
	box := NewInbox()
	box.push("three")
	box.Unread("one", "two")
	select {
	case <-box.Ready():
	default:
		t.Error("nobody is told")
	}
	if got := box.TakeAll(); len(got) != 3 || got[0] != "one" || got[2] != "three" {
		t.Errorf("takes %q", got)
	}
	if box.Waiting() {
		t.Error("something is left")
	}
}
