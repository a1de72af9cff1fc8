package catalogue

// The models of providers that catwalk lacks, whose list there is old, or that came after
// it, as of November 2026. A model that a list has too is the list's. Where a window counts
// the answer too, the answer is left out: it is what is left. Levels, and what a longer
// prompt costs, are those of the family.

func anthropic() []sourceModel {
	return []sourceModel{
		{ID: "claude-fable-5-2", Name: "Claude Fable 5.2", Window: 1000000, Answer: 128000, Images: true, Price: "8/40/0.2/10"},
		{ID: "claude-haiku-5-5", Name: "Claude Haiku 5.5", Window: 1000000, Answer: 128000, Images: true, Price: "0.1/0.5/0.01/0.125"},
	}
}

// vertexGeminis are at the prices of the maker.
func vertexGeminis() []sourceModel {
	return []sourceModel{{ID: "gemini-4-argon", Name: "Gemini 4 Argon", Window: 1048576, Answer: 65536, Images: true, Price: "2/10/0.1/?"}}
}

// vertexClaudes are at the prices of the maker, as the global endpoint has them.
func vertexClaudes() []sourceModel {
	return []sourceModel{
		{ID: "claude-opus-5-5", Name: "Claude Opus 5.5", Window: 1000000, Answer: 128000, Images: true, Price: "4/20/0.2/5"},
		{ID: "claude-sonnet-5-5", Name: "Claude Sonnet 5.5", Window: 1000000, Answer: 128000, Images: true, Price: "2/10/0.1/2.5"},
		{ID: "claude-haiku-5-5", Name: "Claude Haiku 5.5", Window: 1000000, Answer: 128000, Images: true, Price: "0.1/0.5/0.01/0.125"},
	}
}

func deepseek() []sourceModel {
	return []sourceModel{{ID: "deepseek-flash", Name: "DeepSeek V4.1 Flash", Window: 1000000, Answer: 384000, Images: true, Price: "0.3/1.2/0.006/?"}}
}

func minimax() []sourceModel {
	return []sourceModel{{ID: "MiniMax-M3.1-Flash", Name: "MiniMax M3.1 Flash", Window: 1000000, Answer: 524288, Images: true, Price: "0.15/0.6/0.015/?"}}
}

func moonshot() []sourceModel {
	return []sourceModel{
		{ID: "kimi-k3.1-pro", Name: "Kimi K3.1 Pro", Window: 1048576, Answer: 131072, Images: true, Price: "2/10/0.2/?"},
		{ID: "kimi-k3.1-pro-highspeed", Name: "Kimi K3.1 Pro Highspeed", Window: 1048576, Answer: 131072, Images: true, Price: "4/20/0.2/?"},
	}
}

func kimiCoding() []sourceModel {
	return []sourceModel{
		{ID: "k3.1-pro", Name: "Kimi K3.1 Pro", Window: 1048576, Answer: 131072, Images: true},
		{ID: "k3.1-pro-highspeed", Name: "Kimi K3.1 Pro Highspeed", Window: 1048576, Answer: 131072, Images: true},
	}
}

func mistral() []sourceModel {
	return []sourceModel{
		{ID: "mistral-large-4", Name: "Mistral Large 4", Window: 1048576, Answer: 262144, Images: true, Reasons: true, Price: "0.7/2.1/0.07/?"},
		{ID: "mistral-large-latest", Name: "Mistral Large", Window: 262144, Images: true, Price: "0.5/1.5/0.05/?"},
		{ID: "mistral-large-2512", Name: "Mistral Large 3", Window: 262144, Images: true, Price: "0.5/1.5/0.05/?"},
		{ID: "mistral-medium-2604", Name: "Mistral Medium 3.5", Window: 262144, Images: true, Reasons: true, Price: "1.5/7.5/0.15/?"},
		{ID: "mistral-medium-2508", Name: "Mistral Medium 3.1", Window: 262144, Images: true, Price: "0.4/2/0.04/?"},
		{ID: "mistral-medium-2505", Name: "Mistral Medium 3", Window: 131072, Images: true, Price: "0.4/2/0.04/?"},
		{ID: "mistral-small-latest", Name: "Mistral Small", Window: 262144, Images: true, Reasons: true, Price: "0.15/0.6/0.015/?"},
		{ID: "mistral-small-2603", Name: "Mistral Small 4", Window: 262144, Images: true, Reasons: true, Price: "0.15/0.6/0.015/?"},
		{ID: "mistral-small-2506", Name: "Mistral Small 3.2", Window: 128000, Answer: 16384, Images: true, Price: "0.1/0.3/0.01/?"},
		{ID: "magistral-medium-latest", Name: "Magistral Medium", Window: 128000, Answer: 16384, Reasons: true, Price: "2/5/0.2/?"},
		{ID: "codestral-latest", Name: "Codestral", Window: 256000, Answer: 4096, Price: "0.3/0.9/0.03/?"},
		{ID: "devstral-medium-latest", Name: "Devstral 2", Window: 262144, Price: "0.4/2/0.04/?"},
		{ID: "devstral-2512", Name: "Devstral 2 (2512)", Window: 262144, Price: "0.4/2/0.04/?"},
		{ID: "ministral-8b-latest", Name: "Ministral 8B", Window: 262144, Images: true, Price: "0.15/0.15/0.015/?"},
		{ID: "ministral-3b-latest", Name: "Ministral 3B", Window: 131072, Images: true, Price: "0.1/0.1/0.01/?"},
	}
}

func together() []sourceModel {
	efforts := list("low", "medium", "high")
	return []sourceModel{
		{ID: "moonshotai/Kimi-K2.7-Code", Name: "Kimi K2.7 Code", Window: 262144, Answer: 131072, Reasons: true, Price: "0.95/4/0.19/?"},
		{ID: "moonshotai/Kimi-K2.6", Name: "Kimi K2.6", Window: 262144, Answer: 131000, Images: true, Reasons: true, Price: "1.2/4.5/0.2/?"},
		{ID: "zai-org/GLM-5.2", Name: "GLM-5.2", Window: 262144, Answer: 164000, Reasons: true, Levels: list("off", "high"), Price: "1.4/4.4/0.26/?"},
		{ID: "zai-org/GLM-5.1", Name: "GLM-5.1", Window: 202752, Answer: 131072, Reasons: true, Price: "1.4/4.4/?/?"},
		{ID: "zai-org/GLM-5", Name: "GLM-5", Window: 202752, Answer: 131072, Reasons: true, Price: "1/3.2/?/?"},
		{ID: "deepseek-ai/DeepSeek-V4-Pro", Name: "DeepSeek V4 Pro", Window: 512000, Answer: 384000, Reasons: true, Levels: list("off", "high"), Price: "1.74/3.48/0.2/?"},
		{ID: "MiniMaxAI/MiniMax-M3", Name: "MiniMax-M3", Window: 524288, Answer: 250000, Images: true, Reasons: true, Price: "0.3/1.2/0.06/?"},
		{ID: "MiniMaxAI/MiniMax-M2.7", Name: "MiniMax-M2.7", Window: 202752, Answer: 131072, Reasons: true, Price: "0.3/1.2/0.06/?"},
		{ID: "Qwen/Qwen3.7-Max", Name: "Qwen3.7 Max", Window: 1000000, Answer: 500000, Price: "1.25/3.75/?/?"},
		{ID: "Qwen/Qwen3.6-Plus", Name: "Qwen3.6 Plus", Window: 1000000, Answer: 500000, Reasons: true, Price: "0.5/3/?/?"},
		{ID: "Qwen/Qwen3.5-397B-A17B", Name: "Qwen3.5 397B A17B", Window: 262144, Answer: 130000, Images: true, Reasons: true, Price: "0.6/3.6/?/?"},
		{ID: "Qwen/Qwen3-235B-A22B-Instruct-2507-tput", Name: "Qwen3 235B A22B Instruct 2507", Window: 262144, Price: "0.2/0.6/?/?"},
		{ID: "openai/gpt-oss-120b", Name: "GPT OSS 120B", Window: 131072, Reasons: true, Levels: efforts, Price: "0.15/0.6/?/?"},
		{ID: "openai/gpt-oss-20b", Name: "GPT OSS 20B", Window: 131072, Reasons: true, Levels: efforts, Price: "0.05/0.2/?/?"},
		{ID: "meta-llama/Llama-3.3-70B-Instruct-Turbo", Name: "Llama 3.3 70B", Window: 131072, Price: "0.88/0.88/?/?"},
	}
}

func groq() []sourceModel {
	efforts := list("low", "medium", "high")
	return []sourceModel{
		{ID: "openai/gpt-oss-120b", Name: "GPT OSS 120B", Window: 131072, Answer: 65536, Reasons: true, Levels: efforts, Price: "0.15/0.6/0.075/?"},
		{ID: "openai/gpt-oss-20b", Name: "GPT OSS 20B", Window: 131072, Answer: 65536, Reasons: true, Levels: efforts, Price: "0.075/0.3/0.0375/?"},
		{ID: "llama-3.3-70b-versatile", Name: "Llama 3.3 70B", Window: 131072, Answer: 32768, Price: "0.59/0.79/?/?"},
		{ID: "llama-3.1-8b-instant", Name: "Llama 3.1 8B", Window: 131072, Price: "0.05/0.08/?/?"},
	}
}
