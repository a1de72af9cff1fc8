package provider

// The wire APIs, in the column apis.
const (
	chat      = "openai-completions"
	responses = "openai-responses"
	claude    = "anthropic-messages"
	gemini    = "google-generative-ai"
)

// copiers of the Responses API know its older part.
const copiers = "deepseek groq lmstudio ollama llamacpp vllm"

// kinds are the servers that the table below knows something of. It is never
// written to, nor is quirks: data only, nothing runs at start.
var kinds = []kind{
	{"openai", "api.openai.com", ""},
	{"azure", "openai.azure.com services.ai.azure.com cognitiveservices.azure.com", "azure-openai"},
	{"anthropic", "api.anthropic.com", ""},
	{"vertex", "aiplatform.googleapis.com -aiplatform.googleapis.com", "vertexai google-vertex vertex-google vertex-anthropic"},
	{"openrouter", "openrouter.ai", ""},
	{"vercel", "ai-gateway.vercel.sh", "vercel-gateway vercel-ai-gateway"},
	{"copilot", "githubcopilot.com", "github-copilot"},
	{"groq", "api.groq.com", ""},
	{"xai", "api.x.ai", "grok"},
	{"deepseek", "api.deepseek.com", ""},
	{"mistral", "api.mistral.ai codestral.mistral.ai", ""},
	{"cerebras", "api.cerebras.ai", ""},
	{"together", "api.together.xyz api.together.ai", "togetherai"},
	{"fireworks", "api.fireworks.ai", "fireworks-ai"},
	{"moonshot", "api.moonshot.ai api.moonshot.cn api.kimi.com", "kimi kimi-coding moonshotai"},
	{"zai", "api.z.ai bigmodel.cn", "z.ai zhipu zhipu-coding"},
	{"alibaba", "dashscope.aliyuncs.com dashscope-intl.aliyuncs.com dashscope-us.aliyuncs.com", "alibaba-singapore alibaba-us dashscope qwen"},
	{"siliconflow", "api.siliconflow.com api.siliconflow.cn", ""},
	{"minimax", "api.minimax.io api.minimaxi.com", "minimax-china"},
	{"opencode", "opencode.ai", "opencode-zen opencode-go"},
	{"baseten", "baseten.co", ""},
	{"neuralwatt", "api.neuralwatt.com", ""},
	{"lmstudio", "localhost:1234", "lm-studio"},
	{"snowflake", "snowflakecomputing.com", ""},
	{"perplexity", "api.perplexity.ai", ""},
	{"ollama", "ollama.com localhost:11434", "ollama-cloud"},
	{"llamacpp", "", "llama.cpp llama-cpp llama-server"},
	{"vllm", "", "gpustack sglang"},
}

// thinkers are the models of Gemini that sign their calls and think by levels.
const thinkers = "*gemini-[3-9]* *gemini-flash*latest *gemini-pro-latest"

// newClaudes are the Claude models from version 4.6 on, and 4.5, for which a later row
// has another value.
const newClaudes = "*claude-[a-z]*-[5-9]* *claude-[a-z]*.[5-9]* *claude-[a-z]*-[1-9][0-9] *claude-[a-z]*-[1-9][0-9]-*"

// quirks is all that is known of servers that differ. The switches and their defaults
// are described at the packages of the APIs.
var quirks = []quirk{
	// How an answer is limited.
	{chat, "openai azure groq cerebras minimax snowflake", "", "max_tokens_field", "max_completion_tokens"},

	// Fields that one server wants and others refuse.
	{chat, "openai", "", "store", true},
	{chat, "openai", "", "prompt_cache_key", true},
	{chat, "mistral perplexity", "", "stream_options", false},
	{chat, "perplexity", "", "tools", false},
	{chat, "openai", "", "strict", true},
	{chat + " " + responses, "azure", "", "auth", "both"},
	{gemini, "vertex", "", "auth", "bearer"},
	{responses, copiers, "", "store", false},
	{responses, copiers, "", "prompt_cache_key", false},
	{responses, copiers, "", "encrypted_reasoning", false},
	{responses, copiers + " xai", "", "reasoning_summary", ""}, // they show thoughts unasked
	{responses, "openai azure", "", "strict", true},

	// The form of messages.
	{chat, "openai azure", reasoners, "developer_role", true},
	{chat, "openai azure", "o1-mini* o1-preview*", "developer_role", false},
	{responses, copiers + " xai openrouter", "", "developer_role", false},
	{responses, copiers, "", "tool_result_images", false},
	{responses, "openrouter", "", "message_ids", true},
	{gemini, "", thinkers, "placeholder_signature", true},
	{gemini, "", thinkers, "tool_images", "response"},
	{chat, "cerebras deepseek perplexity", "", "string_content", true},
	{chat, "mistral", "", "tool_call_ids", "nine"},
	{chat, "mistral", "", "tool_result_name", true},
	{chat, "mistral", "", "assistant_after_tools", true},
	{chat, "deepseek moonshot", reasoners, "require_reasoning", true},
	{chat, "openrouter vercel", "anthropic/*", "cache_control", true},

	// How thinking is asked for.
	{chat, "openrouter vercel", "", "thinking_format", "reasoning"},
	{chat, "together", "", "thinking_format", "reasoning_enabled"},
	{chat, "together", "*gpt-oss*", "thinking_format", "reasoning_effort"},
	{chat, "deepseek moonshot zai minimax", "", "thinking_format", "thinking"},
	{chat, "zai", "", "keep_thinking", true},
	{chat, "minimax", "", "reasoning_split", true},
	{chat, "alibaba siliconflow", "", "thinking_format", "enable_thinking"},
	{chat, "vllm llamacpp", "", "thinking_format", "template"},
	{chat, "vllm", "*gpt-oss*", "thinking_format", "reasoning_effort"},
	{chat, "mistral perplexity copilot", "", "thinking_format", "none"},
	{chat, "mistral", "mistral-small-latest mistral-small-26* mistral-medium-latest mistral-medium-26* mistral-medium-3*", "thinking_format", "reasoning_effort"},
	{chat, "cerebras", "*glm*", "thinking_format", "none"},
	{chat, "xai", "", "thinking_format", "none"}, // most think as they like, and refuse the field
	{chat, "xai", "*mini* grok-4.3* grok-4.[5-9]* grok-[5-9]*", "thinking_format", "reasoning_effort"},

	{gemini, "", thinkers, "thinking_format", "level"},
	{gemini, "", "*gemini-1.* *gemini-2.0* *gemma*", "thinking_format", "none"},

	// The words for the levels, where they are not low, medium and high.
	{gemini, "", "*pro*", "thinking_budgets", "off=128 xhigh=24576 max=32768"},
	{gemini, "", "*pro*", "thinking_levels", "off=LOW minimal=LOW"},
	{gemini, "", "*gemini-3-pro*", "thinking_levels", "medium=HIGH"},
	{responses, "xai", "", "reasoning_efforts", "minimal= low= medium= high= xhigh= max="},
	{responses, "xai", "*mini* grok-4.3* grok-4.[5-9]* grok-[5-9]*", "reasoning_efforts", "minimal=low low=low medium=medium high=high xhigh=high max=high"},
	{responses, "xai", "*mini*", "reasoning_efforts", "medium=high"},
	{chat + " " + responses, "openai azure", "gpt-5 gpt-5-*", "reasoning_efforts", "minimal=minimal"},
	{chat + " " + responses, "openai azure", "gpt-5.[1-9]*", "reasoning_efforts", "off=none minimal=low xhigh=xhigh max=xhigh"},
	{chat + " " + responses, "openai azure", "gpt-5.[6-9]*", "reasoning_efforts", "max=max"},
	{chat + " " + responses, "openai azure", "*codex* *-pro", "reasoning_efforts", "off= minimal=low"},
	{chat + " " + responses, "openrouter vercel", "", "reasoning_efforts", "off=none minimal=minimal xhigh=xhigh max=xhigh"},
	{chat, "fireworks ollama", "", "reasoning_efforts", "off=none"},
	{chat, "fireworks", "*deepseek* *glm*", "reasoning_efforts", "xhigh=xhigh max=max"},
	{chat, "baseten", "", "reasoning_efforts", "off=none minimal=minimal xhigh=xhigh max=max"},
	{chat, "opencode", "*deepseek*", "reasoning_efforts", "xhigh=max max=max"},
	{chat, "neuralwatt", "*glm*", "reasoning_efforts", "minimal=minimal xhigh=xhigh max=xhigh"},
	{chat, "groq", "*qwen3*", "reasoning_efforts", "off=none minimal=default low=default medium=default high=default xhigh=default max=default"},
	{chat, "xai", "*mini*", "reasoning_efforts", "medium=high"},
	{chat + " " + responses, "xai", "grok-4.3*", "reasoning_efforts", "off=none"},
	{chat, "mistral", "", "reasoning_efforts", "off=none minimal=high low=high medium=high"},
	{chat, "deepseek", "", "reasoning_efforts", "minimal=low low=low medium=high high=high xhigh=max max=max"},
	{responses, "deepseek", "", "reasoning_efforts", "off=none medium=high xhigh=max max=max"},
	{chat, "zai", "glm-5.[2-9]*", "reasoning_efforts", "minimal=high low=high medium=high high=high xhigh=max max=max"},

	// Claude and what copies its API. From version 4.6 on a model decides itself
	// how much it thinks; a date behind the name is no version.
	{claude, "", newClaudes, "adaptive_thinking", true},
	{claude, "", "*claude-opus-4-[0-5]* *claude-sonnet-4-[0-5]* *claude-haiku-4-[0-5]* *claude-opus-4.[0-5]* *claude-sonnet-4.[0-5]* *claude-haiku-4.[0-5]*", "adaptive_thinking", false},
	{claude, "", newClaudes, "thinking_display", "summarized"}, // else their thoughts come empty
	{claude, "", "*claude-*-4-6* *claude-*-4.6*", "thinking_display", ""},
	{claude, "", "*claude-*-4-6* *claude-*-4.6*", "reasoning_efforts", "xhigh=max"},
	{claude, "anthropic", "", "interleaved", true},
	{claude, "vertex", "", "vertex", true},
	{claude, "vertex openrouter copilot", "", "auth", "bearer"},
}

// quirk is one way in which servers differ from the API they speak. Its fields
// are lists of words separated by blanks; an empty list stands for all.
type quirk struct {
	apis    string
	servers string // names of servers, see kind
	models  string // globs of model ids in lower case, or reasoners
	name    string // of the switch
	value   any    // bool or string
}

// reasoners stands for the models that can think.
const reasoners = "(reasoning)"

// kind is a kind of server: what its addresses end in, and the names beside its
// own that providers have which are one. "localhost:1" is that port of this
// machine, under any of its names.
type kind struct{ server, hosts, names string }
