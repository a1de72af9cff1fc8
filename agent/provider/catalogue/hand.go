package catalogue

import (
	"regexp"
	"strings"

	"pi/agent/llm"
)

// Short names of the wire APIs, for the tables here and in families.go.
const (
	claudeAPI    = llm.AnthropicMessages
	responsesAPI = llm.OpenAIResponses
	chatAPI      = llm.OpenAICompletions
	geminiAPI    = llm.GoogleGenerativeAI
)

// listDate is the day on which the list and what is decided by hand were last looked through.
const listDate = "2026-11-23"

// unsupported names the providers of catwalk that are not spoken: Bedrock signs its
// requests, and Copilot has a login of its own.
func unsupported() []string { return []string{"bedrock", "bedrock-europe", "copilot"} }

// sources lists the providers, in the order in which one is picked for whoever
// has keys for several: makers of models first, then who serves those of others,
// then what runs on this machine. Names are those of pi where it has one, so that
// its sessions and its auth.json fit; catwalk's are aliases then. Not taken of
// catwalk are its default headers: they name another product.
func sources() []source {
	var all []source
	for _, group := range []struct {
		list  []source
		trust trust
	}{{makers(), asMaker}, {gateways(), asGateway}, {servers(), ""}, {clouds(), asMaker}, {local(), ""}} {
		for _, p := range group.list {
			if p.API == "" {
				p.API = chatAPI
			}
			p.Trust = group.trust
			all = append(all, p)
		}
	}
	return all
}

// makers are the providers that serve models of their own.
func makers() []source {
	return []source{
		{From: "anthropic", Name: "anthropic", API: claudeAPI, BaseURL: "https://api.anthropic.com", Aliases: list("claude"),
			KeyVars: list("ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_API_KEY"), Models: anthropic()},
		{From: "openai", Name: "openai", API: responsesAPI, BaseURL: "https://api.openai.com/v1"},
		{From: "gemini", Name: "google", API: geminiAPI, BaseURL: "https://generativelanguage.googleapis.com/v1beta", Aliases: list("gemini"),
			KeyVars: list("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"), First: list("gemini-4-argon")},
		{From: "deepseek", Name: "deepseek", Models: deepseek()},
		{From: "xai", Name: "xai", API: responsesAPI, Aliases: list("grok"), First: list("grok-4.7")},
		{Name: "mistral", Title: "Mistral", BaseURL: "https://api.mistral.ai/v1", KeyVars: list("MISTRAL_API_KEY"),
			First: list("mistral-medium-2604"), Models: mistral()},
		{From: "zai", Name: "zai", Aliases: list("z.ai")},
		{From: "moonshot", Name: "moonshot", Aliases: list("moonshotai"), Models: moonshot()},
		{From: "kimi-coding", Name: "kimi-coding", BaseURL: "https://api.kimi.com/coding/v1", Aliases: list("kimi"),
			KeyVars: list("KIMI_API_KEY", "KIMI_CODING_API_KEY"), Models: kimiCoding()},
		{From: "minimax", Name: "minimax", API: claudeAPI, Models: minimax()},
		{From: "minimax-china", Name: "minimax-cn", API: claudeAPI, Aliases: list("minimax-china"), KeyVars: list("MINIMAX_CN_API_KEY"), Models: minimax()},
		{From: "alibaba-singapore", Name: "alibaba-singapore", Switch: true, Aliases: list("alibaba"), KeyVars: list("ALIBABA_SINGAPORE_API_KEY", "DASHSCOPE_API_KEY")},
		{From: "alibaba-us", Name: "alibaba-us", Switch: true},
		{From: "zhipu", Name: "zhipu"},
		{From: "zhipu-coding", Name: "zhipu-coding"},
	}
}

// gateways pass requests on to the makers of models, or to those who serve them.
func gateways() []source {
	return []source{
		{From: "openrouter", Name: "openrouter", Halves: true},
		{From: "vercel", Name: "vercel-ai-gateway", Pick: isInteractive, Aliases: list("vercel"), KeyVars: list("AI_GATEWAY_API_KEY", "VERCEL_API_KEY"), First: list("anthropic/claude-sonnet-4")},
		{From: "opencode-zen", Name: "opencode", Aliases: list("opencode-zen"), Route: zen, First: list("deepseek-v4-flash-free")},
		{From: "opencode-go", Name: "opencode-go", Route: zenGo},
		{From: "aihubmix", Name: "aihubmix"},
	}
}

// servers are the providers that serve the models of others themselves.
func servers() []source {
	return []source{
		{From: "groq", Name: "groq", Pick: func(id string) bool { return id == "qwen/qwen3-32b" }, First: list("openai/gpt-oss-120b"), Models: groq()},
		{From: "cerebras", Name: "cerebras"},
		{Name: "together", Title: "Together AI", BaseURL: "https://api.together.ai/v1", KeyVars: list("TOGETHER_API_KEY"),
			Aliases: list("togetherai"), First: list("moonshotai/Kimi-K2.6"), Models: together()},
		{From: "fireworks", Name: "fireworks", SaysOff: true, Aliases: list("fireworks-ai"), First: list("accounts/fireworks/models/deepseek-v4-pro")},
		{From: "huggingface", Name: "huggingface", Aliases: list("hf"), KeyVars: list("HF_TOKEN", "HUGGINGFACE_API_KEY"), First: list("zai-org/GLM-5.2:fireworks-ai")},
		{From: "baseten", Name: "baseten"},
		{From: "nebius", Name: "nebius"},
		{From: "chutes", Name: "chutes"},
		{From: "synthetic", Name: "synthetic"},
		{From: "venice", Name: "venice", First: list("claude-opus-4-7-fast")},
		{From: "scaleway", Name: "scaleway"},
		{From: "cortecs", Name: "cortecs"},
		{From: "ionet", Name: "ionet", Aliases: list("io.net")},
		{From: "atlascloud", Name: "atlascloud"},
		{From: "coralbricks", Name: "coralbricks"},
		{From: "avian", Name: "avian"},
		{From: "neuralwatt", Name: "neuralwatt"},
		{From: "qiniucloud", Name: "qiniucloud"},
		{Name: "ollama-cloud", Title: "Ollama Cloud", BaseURL: "https://ollama.com/v1", KeyVars: list("OLLAMA_API_KEY")},
	}
}

// clouds are the providers whose address is one of the user's own, so each has a hint
// on how to find it.
func clouds() []source {
	return []source{
		{From: "azure", Name: "azure-openai-responses", API: responsesAPI, Aliases: list("azure", "azure-openai"),
			Hint: "base_url, or AZURE_OPENAI_API_ENDPOINT, is that of your resource: https://RESOURCE.openai.azure.com/openai/v1; the ids of models are the names of your deployments"},
		{From: "vertexai", Name: "google-vertex", API: geminiAPI, Aliases: list("vertexai", "vertex"), Pick: isGemini,
			KeyVars: list("GOOGLE_CLOUD_API_KEY"), First: list("gemini-4-argon"), Models: vertexGeminis(),
			Hint: "base_url is https://aiplatform.googleapis.com/v1/projects/PROJECT/locations/LOCATION/publishers/google; the key is an API key, or api_key = \"!gcloud auth print-access-token\""},
		{From: "vertexai", Name: "google-vertex-anthropic", Title: "Google Vertex AI (Claude)", API: claudeAPI, Pick: isClaude, Rename: dateApart,
			KeyVars: list("GOOGLE_CLOUD_API_KEY"), First: list("claude-sonnet-4-6"), Models: vertexClaudes(),
			Hint: "base_url is https://aiplatform.googleapis.com/v1/projects/PROJECT/locations/global/publishers/anthropic/models; api_key = \"!gcloud auth print-access-token\""},
	}
}

// local servers listen on the loopback interface, at their usual ports.
func local() []source {
	return []source{
		{Name: "ollama", Title: "Ollama", BaseURL: "http://127.0.0.1:11434/v1", Local: true},
		{Name: "llama.cpp", Title: "llama.cpp", BaseURL: "http://127.0.0.1:8080/v1", Local: true, Aliases: list("llamacpp", "llama-cpp")},
		{Name: "lmstudio", Title: "LM Studio", BaseURL: "http://127.0.0.1:1234/v1", Local: true, Aliases: list("lm-studio")},
		{Name: "vllm", Title: "vLLM", BaseURL: "http://127.0.0.1:8000/v1", Local: true},
	}
}

// zen returns the API and the address at which OpenCode Zen serves a model: each family
// has the API of its maker. "" is the one of the provider.
func zen(id string) (api, base string) {
	switch {
	case isClaude(id) || strings.HasPrefix(id, "qwen"):
		return claudeAPI, "https://opencode.ai/zen"
	case strings.HasPrefix(id, "gpt-"):
		return responsesAPI, ""
	case isGemini(id):
		return geminiAPI, ""
	}
	return "", ""
}

// zenGo is zen for OpenCode Go.
func zenGo(id string) (api, base string) {
	if strings.HasPrefix(id, "qwen") || strings.HasPrefix(id, "minimax-") {
		return claudeAPI, "https://opencode.ai/zen/go"
	}
	return "", ""
}

// dateApart writes the date of a model as Google does.
func dateApart(id string) string {
	return regexp.MustCompile(`-(20\d{6})$`).ReplaceAllString(id, "@$1")
}

// isInteractive leaves out what is asked through a batch endpoint only.
func isInteractive(id string) bool { return !strings.HasSuffix(id, "-batch") }

func isClaude(id string) bool { return strings.HasPrefix(id, "claude-") }
func isGemini(id string) bool { return strings.HasPrefix(id, "gemini-") }

func list(s ...string) []string { return s }

// correction is a price that a list has wrong. Where the list says something else by now,
// the list counts.
type correction struct{ provider, id, was, is string }

// corrections are of what makers publish: a price that fell, or rose, since catwalk looked.
// Those of DeepSeek are those at peak hours; at others half of it is charged.
func corrections() []correction {
	return []correction{
		{"deepseek", "deepseek-v4-flash", "0.14/0.28/0.0028/?", "0.3/1.2/0.006/?"},
		{"deepseek", "deepseek-v4-pro", "0.435/0.87/0.003625/?", "1.32/3.96/0.044/?"},
		{"google", "gemini-3.6-flash", "1.5/7.5/0.15/?", "0.75/3.75/0.075/?"},
		{"google", "gemini-3.5-flash", "1.5/9/1/?", "1.5/9/0.15/?"},
		{"minimax", "MiniMax-M3", "0.6/2.4/0.12/?", "0.3/1.2/0.06/?"},
		{"minimax-cn", "MiniMax-M3", "0.6/2.4/0.12/?", "0.3/1.2/0.06/?"},
		{"zai", "glm-5.2", "", "1.4/4.4/0.26/?"},
	}
}
