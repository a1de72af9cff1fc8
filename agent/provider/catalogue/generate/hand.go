package main

import (
	"regexp"
	"strings"
)

const (
	claudeAPI    = "anthropic-messages"
	responsesAPI = "openai-responses"
	chatAPI      = "openai-completions"
	geminiAPI    = "google-generative-ai"
)

// unsupported names the providers of catwalk that are not spoken: Bedrock signs its
// requests, and Copilot has a login of its own.
func unsupported() []string { return []string{"bedrock", "bedrock-europe", "copilot"} }

// providers lists the providers, in the order in which one is picked for whoever
// has keys for several: makers of models first, then who serves those of others,
// then what runs on this machine. Names are those of pi where it has one, so that
// its sessions and its auth.json fit; catwalk's are aliases then. Not taken of
// catwalk are its default headers: they name another product.
func providers() []provider {
	var all []provider
	for _, group := range [][]provider{makers(), servers(), clouds(), local()} {
		for _, p := range group {
			if p.API == "" {
				p.API = chatAPI
			}
			all = append(all, p)
		}
	}
	return all
}

// makers are the providers that serve models of their own.
func makers() []provider {
	return []provider{
		{From: "anthropic", Name: "anthropic", API: claudeAPI, BaseURL: "https://api.anthropic.com", Aliases: list("claude"),
			KeyVars: list("ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_API_KEY")},
		{From: "openai", Name: "openai", API: responsesAPI, BaseURL: "https://api.openai.com/v1"},
		{From: "gemini", Name: "google", API: geminiAPI, BaseURL: "https://generativelanguage.googleapis.com/v1beta", Aliases: list("gemini"),
			KeyVars: list("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY")},
		{From: "deepseek", Name: "deepseek", SaysOff: true},
		{From: "xai", Name: "xai", Aliases: list("grok")},
		{Name: "mistral", Title: "Mistral", BaseURL: "https://api.mistral.ai/v1", KeyVars: list("MISTRAL_API_KEY"),
			Default: "mistral-medium-2604", Models: mistral()},
		{From: "zai", Name: "zai", SaysOff: true, Aliases: list("z.ai")},
		{From: "moonshot", Name: "moonshot", SaysOff: true, Aliases: list("moonshotai")},
		{From: "kimi-coding", Name: "kimi-coding", API: claudeAPI, Aliases: list("kimi"), KeyVars: list("KIMI_API_KEY", "KIMI_CODING_API_KEY")},
		{From: "minimax", Name: "minimax", SaysOff: true, API: claudeAPI},
		{From: "minimax-china", Name: "minimax-cn", SaysOff: true, API: claudeAPI, Aliases: list("minimax-china"), KeyVars: list("MINIMAX_CN_API_KEY")},
		{From: "alibaba-singapore", Name: "alibaba-singapore", Switch: true, Aliases: list("alibaba"), KeyVars: list("ALIBABA_SINGAPORE_API_KEY", "DASHSCOPE_API_KEY")},
		{From: "alibaba-us", Name: "alibaba-us", Switch: true},
		{From: "zhipu", Name: "zhipu", SaysOff: true},
		{From: "zhipu-coding", Name: "zhipu-coding", SaysOff: true},
	}
}

// servers are the providers that serve the models of others.
func servers() []provider {
	return []provider{
		{From: "openrouter", Name: "openrouter", SaysOff: true},
		{From: "vercel", Name: "vercel-ai-gateway", SaysOff: true, Aliases: list("vercel"), KeyVars: list("AI_GATEWAY_API_KEY", "VERCEL_API_KEY")},
		{From: "groq", Name: "groq", Pick: func(id string) bool { return id == "qwen/qwen3-32b" }, Default: "openai/gpt-oss-120b", Models: groq()},
		{From: "cerebras", Name: "cerebras"},
		{Name: "together", Title: "Together AI", BaseURL: "https://api.together.ai/v1", KeyVars: list("TOGETHER_API_KEY"),
			Aliases: list("togetherai"), Default: "moonshotai/Kimi-K2.6", Models: together()},
		{From: "fireworks", Name: "fireworks", SaysOff: true, Aliases: list("fireworks-ai")},
		{From: "huggingface", Name: "huggingface", Aliases: list("hf"), KeyVars: list("HF_TOKEN", "HUGGINGFACE_API_KEY")},
		{From: "opencode-zen", Name: "opencode", Aliases: list("opencode-zen"), Route: zen},
		{From: "opencode-go", Name: "opencode-go", Route: zenGo},
		{From: "baseten", Name: "baseten"},
		{From: "nebius", Name: "nebius"},
		{From: "chutes", Name: "chutes"},
		{From: "synthetic", Name: "synthetic"},
		{From: "venice", Name: "venice"},
		{From: "scaleway", Name: "scaleway"},
		{From: "cortecs", Name: "cortecs"},
		{From: "ionet", Name: "ionet", Aliases: list("io.net")},
		{From: "aihubmix", Name: "aihubmix"},
		{From: "avian", Name: "avian"},
		{From: "neuralwatt", Name: "neuralwatt"},
		{From: "qiniucloud", Name: "qiniucloud"},
		{Name: "ollama-cloud", Title: "Ollama Cloud", BaseURL: "https://ollama.com/v1", KeyVars: list("OLLAMA_API_KEY")},
	}
}

// clouds are the providers whose address is one of the person's own, so each has a hint
// on how to find it.
func clouds() []provider {
	return []provider{
		{From: "azure", Name: "azure-openai-responses", API: responsesAPI, Aliases: list("azure", "azure-openai"),
			Hint: "base_url, or AZURE_OPENAI_API_ENDPOINT, is that of your resource: https://RESOURCE.openai.azure.com/openai/v1; the ids of models are the names of your deployments"},
		{From: "vertexai", Name: "google-vertex", API: geminiAPI, Aliases: list("vertexai", "vertex"), Pick: isGemini,
			KeyVars: list("GOOGLE_CLOUD_API_KEY"),
			Hint:    "base_url is https://aiplatform.googleapis.com/v1/projects/PROJECT/locations/LOCATION/publishers/google; the key is an API key, or api_key = \"!gcloud auth print-access-token\""},
		{From: "vertexai", Name: "google-vertex-anthropic", Title: "Google Vertex AI (Claude)", API: claudeAPI, Pick: isClaude, Rename: dateApart,
			KeyVars: list("GOOGLE_CLOUD_API_KEY"), Default: "claude-sonnet-4-6",
			Hint: "base_url is https://aiplatform.googleapis.com/v1/projects/PROJECT/locations/global/publishers/anthropic/models; api_key = \"!gcloud auth print-access-token\""},
	}
}

// local servers listen on the loopback interface, at their usual ports.
func local() []provider {
	return []provider{
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

func isClaude(id string) bool { return strings.HasPrefix(id, "claude-") }
func isGemini(id string) bool { return strings.HasPrefix(id, "gemini-") }

func list(s ...string) []string { return s }
