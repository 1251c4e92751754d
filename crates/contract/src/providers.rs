//! Model providers: the one table of names, wire shapes and environment
//! variables (`suite-file.md` §9.6).

/// The protocol that a provider's endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WireShape {
    /// `POST {base}/chat/completions`.
    OpenAi,
    /// `POST {base}/messages`.
    Anthropic,
    /// `POST {base}/models/{model}:generateContent`.
    Google,
    /// No endpoint: the suite writes the model's turns.
    Scripted,
}

/// A model provider that a suite may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Provider {
    /// Name in front of the slash: `openai` in `openai/gpt-5-mini`.
    pub name: &'static str,
    /// The protocol of its endpoint.
    pub shape: WireShape,
    /// Environment variables that may hold the key, first that is set wins;
    /// empty when no key is needed.
    pub key_variables: &'static [&'static str],
    /// Environment variable that replaces the base URL.
    pub base_url_variable: Option<&'static str>,
    /// Base URL when nothing replaces it.
    pub default_base_url: &'static str,
    /// Name by the OpenTelemetry conventions (`gen_ai.provider.name`).
    pub telemetry_name: &'static str,
}

/// Every provider, in the order of `suite-file.md` §9.6; `scripted` is ours.
pub const PROVIDERS: &[Provider] = &[
    Provider {
        name: "anthropic",
        shape: WireShape::Anthropic,
        key_variables: &["ANTHROPIC_API_KEY"],
        base_url_variable: Some("ANTHROPIC_BASE_URL"),
        default_base_url: "https://api.anthropic.com/v1",
        telemetry_name: "anthropic",
    },
    Provider {
        name: "openai",
        shape: WireShape::OpenAi,
        key_variables: &["OPENAI_API_KEY"],
        base_url_variable: Some("OPENAI_BASE_URL"),
        default_base_url: "https://api.openai.com/v1",
        telemetry_name: "openai",
    },
    Provider {
        name: "google",
        shape: WireShape::Google,
        key_variables: &["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
        base_url_variable: None,
        default_base_url: "https://generativelanguage.googleapis.com/v1beta",
        telemetry_name: "gcp.gemini",
    },
    Provider {
        name: "deepseek",
        shape: WireShape::OpenAi,
        key_variables: &["DEEPSEEK_API_KEY"],
        base_url_variable: None,
        default_base_url: "https://api.deepseek.com/v1",
        telemetry_name: "deepseek",
    },
    Provider {
        name: "mistral",
        shape: WireShape::OpenAi,
        key_variables: &["MISTRAL_API_KEY"],
        base_url_variable: None,
        default_base_url: "https://api.mistral.ai/v1",
        telemetry_name: "mistral_ai",
    },
    Provider {
        name: "openrouter",
        shape: WireShape::OpenAi,
        key_variables: &["OPENROUTER_API_KEY"],
        base_url_variable: None,
        default_base_url: "https://openrouter.ai/api/v1",
        telemetry_name: "openrouter",
    },
    Provider {
        name: "xai",
        shape: WireShape::OpenAi,
        key_variables: &["XAI_API_KEY"],
        base_url_variable: None,
        default_base_url: "https://api.x.ai/v1",
        telemetry_name: "x_ai",
    },
    Provider {
        name: "ollama",
        shape: WireShape::OpenAi,
        key_variables: &[],
        base_url_variable: Some("OLLAMA_BASE_URL"),
        default_base_url: "http://127.0.0.1:11434/v1",
        telemetry_name: "ollama",
    },
    Provider {
        name: SCRIPTED,
        shape: WireShape::Scripted,
        key_variables: &[],
        base_url_variable: None,
        default_base_url: "",
        telemetry_name: SCRIPTED,
    },
];

/// The provider whose turns the suite writes: no model decides anything.
pub const SCRIPTED: &str = "scripted";

/// Providers that are known and refused (`suite-file.md` §9.6).
pub const REFUSED_PROVIDERS: &[&str] = &["azure", "bedrock"];

/// Returns the provider of an exact name.
#[must_use]
pub fn find_provider(name: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|provider| provider.name == name)
}

#[cfg(test)]
mod tests {
    use super::{PROVIDERS, REFUSED_PROVIDERS, find_provider};

    #[test]
    fn names_are_unique_and_found() {
        for (index, provider) in PROVIDERS.iter().enumerate() {
            assert_eq!(find_provider(provider.name), Some(provider));
            assert!(!REFUSED_PROVIDERS.contains(&provider.name));
            assert!(
                PROVIDERS[index + 1..]
                    .iter()
                    .all(|other| other.name != provider.name)
            );
        }
        assert_eq!(find_provider("azure"), None);
    }
}
