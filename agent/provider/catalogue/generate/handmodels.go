package main

// The models of providers that catwalk lacks, or whose list there is old, as of
// the middle of 2026. Where a
// window counts the answer too, the answer is left out: it is what is left.

func mistral() []model {
	hybrid := list("off", "high")
	return []model{
		{ID: "mistral-large-latest", Name: "Mistral Large", Window: 262144, Images: true, Price: "0.5/1.5/?/?"},
		{ID: "mistral-large-2512", Name: "Mistral Large 3", Window: 262144, Images: true, Price: "0.5/1.5/?/?"},
		{ID: "mistral-medium-2604", Name: "Mistral Medium 3.5", Window: 262144, Images: true, Reasons: true, Levels: hybrid, Price: "1.5/7.5/?/?"},
		{ID: "mistral-medium-2508", Name: "Mistral Medium 3.1", Window: 262144, Images: true, Price: "0.4/2/?/?"},
		{ID: "mistral-medium-2505", Name: "Mistral Medium 3", Window: 131072, Images: true, Price: "0.4/2/?/?"},
		{ID: "mistral-small-latest", Name: "Mistral Small", Window: 256000, Images: true, Reasons: true, Levels: hybrid, Price: "0.15/0.6/?/?"},
		{ID: "mistral-small-2603", Name: "Mistral Small 4", Window: 256000, Images: true, Reasons: true, Levels: hybrid, Price: "0.15/0.6/?/?"},
		{ID: "mistral-small-2506", Name: "Mistral Small 3.2", Window: 128000, Answer: 16384, Images: true, Price: "0.1/0.3/?/?"},
		{ID: "magistral-medium-latest", Name: "Magistral Medium", Window: 128000, Answer: 16384, Reasons: true, Price: "2/5/?/?"},
		{ID: "codestral-latest", Name: "Codestral", Window: 256000, Answer: 4096, Price: "0.3/0.9/?/?"},
		{ID: "devstral-medium-latest", Name: "Devstral 2", Window: 262144, Price: "0.4/2/?/?"},
		{ID: "devstral-2512", Name: "Devstral 2 (2512)", Window: 262144, Price: "0.4/2/?/?"},
		{ID: "ministral-8b-latest", Name: "Ministral 8B", Window: 128000, Price: "0.1/0.1/?/?"},
		{ID: "ministral-3b-latest", Name: "Ministral 3B", Window: 128000, Price: "0.04/0.04/?/?"},
	}
}

func together() []model {
	efforts := list("low", "medium", "high")
	return []model{
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

func groq() []model {
	efforts := list("low", "medium", "high")
	return []model{
		{ID: "openai/gpt-oss-120b", Name: "GPT OSS 120B", Window: 131072, Answer: 65536, Reasons: true, Levels: efforts, Price: "0.15/0.6/0.075/?"},
		{ID: "openai/gpt-oss-20b", Name: "GPT OSS 20B", Window: 131072, Answer: 65536, Reasons: true, Levels: efforts, Price: "0.075/0.3/0.0375/?"},
		{ID: "llama-3.3-70b-versatile", Name: "Llama 3.3 70B", Window: 131072, Answer: 32768, Price: "0.59/0.79/?/?"},
		{ID: "llama-3.1-8b-instant", Name: "Llama 3.1 8B", Window: 131072, Price: "0.05/0.08/?/?"},
	}
}
