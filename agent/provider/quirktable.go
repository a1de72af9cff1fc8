package provider

import "pi/agent/llm"

// Short names of the wire APIs, for the column apis.
const (
	chat      = llm.OpenAICompletions
	responses = llm.OpenAIResponses
	claude    = llm.AnthropicMessages
	gemini    = llm.GoogleGenerativeAI
)

// copiers of the Responses API know its older part.
const copiers = "deepseek groq lmstudio ollama llamacpp vllm"

// kinds are the servers that the table below knows something of. It is never
// written to, nor is quirks: data only, nothing runs at start.
var kinds = []kind{
	{"openai", "api.openai.com", ""},
	{"azure", "openai.azure.com services.ai.azure.com cognitiveservices.azure.com", "azure-openai azure-openai-responses"},
	{"anthropic", "api.anthropic.com", ""},
	{"vertex", "aiplatform.googleapis.com -aiplatform.googleapis.com", "vertexai google-vertex vertex-google vertex-anthropic google-vertex-anthropic"},
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

// quirks is what is known of servers that differ, whatever model they serve; what belongs to
// families of models is in the table of package catalogue, and wins. The switches and their
// defaults are described at the packages of the APIs.
var quirks = []quirk{
	// How an answer is limited.
	{chat, "openai azure groq cerebras minimax snowflake", "max_tokens_field", "max_completion_tokens"},

	// Fields that one server wants and others refuse.
	{chat, "openai", "store", true},
	{chat, "openai mistral", "prompt_cache_key", true},
	{chat + " " + responses, "openai", "long_cache", "24h"},
	{claude, "anthropic", "eager_input_streaming", true},
	{chat + " " + responses, "openrouter vercel", "usage_cost", true},
	{chat, "mistral perplexity", "stream_options", false},
	{chat, "perplexity", "tools", false},
	{chat, "openai", "strict", true},
	{chat, "zai", "tool_stream", true}, // else a long call is silent for minutes
	{chat + " " + responses, "azure", "auth", "both"},
	{gemini, "vertex", "auth", "bearer"},
	{responses, copiers, "store", false},
	{responses, copiers, "prompt_cache_key", false},
	{responses, copiers, "encrypted_reasoning", false},
	{responses, copiers + " xai", "reasoning_summary", ""}, // they show thoughts unasked
	{responses, "openai azure", "strict", true},

	// Which server of many has a session in its cache.
	{chat + " " + responses + " " + claude, "openrouter", "session_header", "x-session-id"},
	{responses, "openai", "session_header", "session-id x-client-request-id"},
	{chat, "openai", "session_header", "session_id x-client-request-id"},
	{chat, "mistral", "session_header", "x-affinity"},
	{chat + " " + claude, "fireworks", "session_header", "x-session-affinity"},

	// The form of messages.
	{chat, "openai azure", "developer_role", reasoners},
	{responses, copiers + " xai openrouter", "developer_role", false},
	{responses, copiers, "tool_result_images", false},
	{responses, "openrouter", "message_ids", true},
	{chat, "cerebras deepseek perplexity", "string_content", true},
	{chat, strangers, "string_content", true}, // what takes lists takes a text, too, and simple servers take nothing else
	{chat, "mistral", "tool_call_ids", "nine"},
	{chat, "mistral", "tool_result_name", true},
	{chat, "mistral", "tool_result_images", true},
	{chat, "mistral", "assistant_after_tools", true},
	{chat, "deepseek moonshot", "require_reasoning", reasoners},

	// How thinking is asked for.
	{chat, "openrouter vercel", "thinking_format", "reasoning"},
	{chat, "together", "thinking_format", "reasoning_enabled"},
	{chat, "deepseek moonshot zai minimax", "thinking_format", "thinking"},
	{chat, "zai", "keep_thinking", true},
	{chat, "minimax", "reasoning_split", true},
	{chat, "alibaba siliconflow", "thinking_format", "enable_thinking"},
	{chat, "vllm llamacpp", "thinking_format", "template"},
	{chat, "mistral perplexity copilot", "thinking_format", "none"},
	{chat, "xai", "thinking_format", "none"},

	// The words for the levels, where they are not low, medium and high.
	{responses, "xai", "reasoning_efforts", "minimal= low= medium= high= xhigh= max="},
	{chat + " " + responses, "openrouter vercel", "reasoning_efforts", "off=none minimal=minimal xhigh=xhigh"},
	{chat, "fireworks", "reasoning_efforts", "off=none"},
	{chat + " " + responses, "ollama", "reasoning_efforts", "off=none minimal= low= medium= high= xhigh= max="}, // its models think unasked, and refuse words
	{chat, "baseten", "reasoning_efforts", "off=none minimal=minimal xhigh=xhigh max=max"},
	{chat, "mistral", "reasoning_efforts", "off=none minimal=high low=high medium=high"},
	{chat, "deepseek", "reasoning_efforts", "minimal=low low=low medium=high high=high xhigh=max max=max"},
	{responses, "deepseek", "reasoning_efforts", "off=none medium=high xhigh=max max=max"},

	// Claude and what copies its API.
	{claude, "anthropic", "interleaved", true},
	{claude, "vertex", "vertex", true},
	{claude, "vertex openrouter copilot", "auth", "bearer"},
}

// quirk is one way in which servers differ from the API they speak. The lists are of words
// separated by blanks.
type quirk struct {
	apis    string
	servers string // names of servers, see kind, or strangers
	name    string // of the switch
	value   any    // bool or string; reasoners: true for models that can think, for others nothing
}

const reasoners = "(reasoning)"

// strangers are servers that neither the table nor the catalogue knows, in place of a name.
const strangers = "(strangers)"

// kind is a kind of server: what its addresses end in, and the names beside its
// own that providers have which are one. "localhost:1" is that port of this
// machine, under any of its names.
type kind struct{ server, hosts, names string }
