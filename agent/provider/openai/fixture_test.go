package openai

import (
	"testing"

	"pi/internal/testing/wiretest"
)

const recordedAPI = "openai-chat"

func TestRecordedAnswersDecode(t *testing.T) { wiretest.Decodes(t, recordedAPI, New) }

func TestRecordedAnswersDecodeOverHTTP(t *testing.T) { wiretest.DecodesOverHTTP(t, recordedAPI, New) }
