//! Which provider answers for a model, and with which key (`suite-file.md` §9.6).

use strandline_contract::{
    providers::{PROVIDERS, Provider, REFUSED_PROVIDERS, WireShape, find_provider},
    run::ExecutionVariant,
    words::RefusalCode,
};

use crate::{binding::Environment, refusal::Refusal};

/// How a model is reached; the key itself is not part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelPlan {
    /// The provider.
    pub provider: &'static Provider,
    /// The model's name at the provider.
    pub model: String,
    /// Base URL that replaces the provider's.
    pub base_url: Option<String>,
    /// Environment variable that holds the key, `None` when none is needed.
    pub key_variable: Option<&'static str>,
}

impl ModelPlan {
    /// Returns the variant that trials under this model are filed under.
    #[must_use]
    pub fn variant(&self) -> ExecutionVariant {
        ExecutionVariant {
            model: self.model.clone(),
            provider: Some(self.provider.name.to_owned()),
        }
    }

    /// Returns whether the suite writes the model's turns.
    #[must_use]
    pub fn is_scripted(&self) -> bool {
        self.provider.shape == WireShape::Scripted
    }
}

/// Tells the provider and the model's own name from `provider/model`, or from
/// a bare model and `defaults.provider`.
///
/// # Errors
///
/// `INFERENCE_CONFLICT` when both name a provider and they differ,
/// `MODEL_UNSUPPORTED` when no supported provider can be told.
pub fn split_model(
    model: &str,
    default_provider: Option<&str>,
) -> Result<(&'static Provider, String), Refusal> {
    let named = model
        .split_once('/')
        .filter(|(prefix, _)| is_provider_name(prefix));
    let (provider, name) = match (named, default_provider) {
        (Some((prefix, _)), Some(provider)) if prefix != provider => {
            return Err(Refusal::new(
                RefusalCode::InferenceConflict,
                format!("model `{model}` and `defaults.provider: {provider}` name two providers"),
            )
            .hint("drop `provider`, or the part of the model before `/`"));
        }
        (Some((prefix, name)), _) => (prefix, name),
        (None, Some(provider)) => (provider, model),
        (None, None) => {
            return Err(unsupported(format!(
                "no provider can be told from model `{model}`"
            )));
        }
    };
    if REFUSED_PROVIDERS.contains(&provider) {
        return Err(unsupported(format!(
            "provider `{provider}` is not supported"
        )));
    }
    let Some(found) = find_provider(provider) else {
        return Err(unsupported(format!("provider `{provider}` is not known")));
    };
    if name.trim().is_empty() {
        return Err(unsupported(format!(
            "model `{model}` has no name after `/`"
        )));
    }
    Ok((found, name.to_owned()))
}

/// Plans how a model is reached in an environment.
///
/// # Errors
///
/// As [`split_model`], and `CREDENTIALS_MISSING` naming the variables when a
/// key is needed and none of them is set.
pub fn plan_model(
    model: &str,
    default_provider: Option<&str>,
    environment: Environment<'_>,
) -> Result<ModelPlan, Refusal> {
    let (provider, name) = split_model(model, default_provider)?;
    let set = |variable: &&str| environment(variable).is_some_and(|value| !value.trim().is_empty());
    let key_variable = provider
        .key_variables
        .iter()
        .copied()
        .find(|name| set(name));
    if key_variable.is_none() && !provider.key_variables.is_empty() {
        return Err(Refusal::new(
            RefusalCode::CredentialsMissing,
            format!(
                "model `{model}` needs a key: {} is not set",
                or(provider.key_variables)
            ),
        )
        .hint("keys are read from the environment only"));
    }
    let base_url = provider
        .base_url_variable
        .and_then(environment)
        .filter(|url| !url.trim().is_empty());
    Ok(ModelPlan {
        provider,
        model: name,
        base_url,
        key_variable,
    })
}

fn is_provider_name(text: &str) -> bool {
    find_provider(text).is_some() || REFUSED_PROVIDERS.contains(&text)
}

fn unsupported(message: String) -> Refusal {
    let known: Vec<&str> = PROVIDERS.iter().map(|provider| provider.name).collect();
    Refusal::new(RefusalCode::ModelUnsupported, message).hint(format!(
        "write `provider/model`, with one of {}",
        known.join(", ")
    ))
}

fn or(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(model: &str, provider: Option<&str>) -> Result<(String, String), RefusalCode> {
        split_model(model, provider)
            .map(|(provider, model)| (provider.name.to_owned(), model))
            .map_err(|refusal| refusal.code)
    }

    #[test]
    fn the_provider_is_told_from_the_model_or_the_defaults() {
        let told = |provider: &str, model: &str| Ok((provider.to_owned(), model.to_owned()));
        assert_eq!(
            plan("openai/gpt-5-mini", None),
            told("openai", "gpt-5-mini")
        );
        assert_eq!(
            plan("openrouter/meta/llama-3.3-70b", None),
            told("openrouter", "meta/llama-3.3-70b")
        );
        assert_eq!(
            plan("meta/llama-3.3-70b", Some("openrouter")),
            told("openrouter", "meta/llama-3.3-70b")
        );
        assert_eq!(
            plan("ollama/qwen3:4b", Some("ollama")),
            told("ollama", "qwen3:4b")
        );
        assert_eq!(plan("scripted/demo", None), told("scripted", "demo"));
        assert_eq!(
            plan("ollama/qwen3:4b", Some("openai")),
            Err(RefusalCode::InferenceConflict)
        );
        for (model, provider) in [
            ("gpt-5-mini", None),
            ("nobody/x", None),
            ("x", Some("nobody")),
            ("azure/gpt", None),
            ("gpt", Some("bedrock")),
            ("openai/", None),
        ] {
            assert_eq!(
                plan(model, provider),
                Err(RefusalCode::ModelUnsupported),
                "{model}"
            );
        }
    }

    #[test]
    fn a_missing_key_is_told_by_its_names_and_never_by_a_value() {
        let nothing = |_: &str| None;
        let refusal = plan_model("google/gemini-2.5-flash", None, &nothing).expect_err("no key");
        assert_eq!(refusal.code, RefusalCode::CredentialsMissing);
        assert!(
            refusal
                .message
                .contains("`GOOGLE_GENERATIVE_AI_API_KEY` or `GEMINI_API_KEY`")
        );

        let second = |name: &str| (name == "GEMINI_API_KEY").then(|| "k".to_owned());
        let plan = plan_model("google/gemini-2.5-flash", None, &second).expect("a key");
        assert_eq!(plan.key_variable, Some("GEMINI_API_KEY"));

        let blank = |name: &str| (name == "OPENAI_API_KEY").then(|| " ".to_owned());
        assert!(plan_model("openai/x", None, &blank).is_err());
        assert_eq!(
            plan_model("ollama/qwen3:4b", None, &nothing)
                .expect("needs none")
                .key_variable,
            None
        );
    }
}
