//! From a provider's name to a client (`suite-file.md` §9.6).

use strandline_engine::models::{ModelFactory, ModelSettings, ModelSetupError};
use strandline_testkit::model::{FakeModel, Reply};

use super::ask;

fn factory(base_url: Option<&str>) -> ModelFactory {
    ModelFactory::new(ModelSettings {
        base_url: base_url.map(str::to_owned),
        ..ModelSettings::default()
    })
}

fn refused(
    provider: &str,
    base_url: Option<&str>,
    environment: &[(&str, &str)],
) -> ModelSetupError {
    let lookup = |name: &str| {
        environment
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| (*value).to_owned())
    };
    match factory(base_url).client(provider, "m", &lookup) {
        Ok(_) => panic!("{provider} was accepted"),
        Err(error) => error,
    }
}

#[test]
fn a_missing_key_is_named_by_its_variable() {
    for (provider, message) in [
        (
            "openai",
            "`OPENAI_API_KEY` is not set, and models of `openai` need a key",
        ),
        (
            "google",
            "`GOOGLE_GENERATIVE_AI_API_KEY` or `GEMINI_API_KEY` is not set, and models of `google` need a key",
        ),
    ] {
        let error = refused(provider, None, &[("OPENAI_API_KEY", " ")]);
        assert_eq!(
            (error.code, error.message.as_str()),
            ("CREDENTIALS_MISSING", message)
        );
    }
}

#[test]
fn providers_that_are_not_supported_are_refused() {
    for provider in ["azure", "bedrock", "OpenAI", "scripted", ""] {
        assert_eq!(
            refused(provider, None, &[]).code,
            "MODEL_UNSUPPORTED",
            "{provider}"
        );
    }
}

#[test]
fn a_base_url_that_cannot_be_used_is_refused_without_repeating_it() {
    for url in [
        "localhost:8080",
        "ftp://host/v1",
        "http://user:hunter2pass@host/v1",
        "http://",
    ] {
        let error = refused("ollama", Some(url), &[]);
        assert_eq!(error.code, "OPTIONS_INVALID", "{url}");
        assert!(!error.message.contains("hunter2pass"));
    }
}

#[test]
fn a_key_that_no_header_can_carry_is_refused_without_repeating_it() {
    let error = refused("openai", None, &[("OPENAI_API_KEY", "sk-first\nsk-second")]);
    assert_eq!(error.code, "CREDENTIALS_MISSING");
    assert!(!error.to_string().contains("sk-"));
}

#[tokio::test]
async fn base_urls_are_read_in_every_common_spelling() {
    for (provider, variable, suffix, path) in [
        ("openai", "OPENAI_BASE_URL", "", "/v1/chat/completions"),
        ("openai", "OPENAI_BASE_URL", "/v1/", "/v1/chat/completions"),
        (
            "openai",
            "OPENAI_BASE_URL",
            "/gateway",
            "/gateway/chat/completions",
        ),
        ("anthropic", "ANTHROPIC_BASE_URL", "", "/v1/messages"),
        ("anthropic", "ANTHROPIC_BASE_URL", "/v1", "/v1/messages"),
        (
            "anthropic",
            "ANTHROPIC_BASE_URL",
            "/proxy?x=1#y",
            "/proxy/v1/messages",
        ),
        ("ollama", "OLLAMA_BASE_URL", "", "/v1/chat/completions"),
        ("ollama", "OLLAMA_BASE_URL", "/api", "/v1/chat/completions"),
    ] {
        let fake = FakeModel::with_replies([Reply::text("Hi.")])
            .await
            .expect("a port");
        let url = format!("{}{suffix}", fake.origin());
        let client = factory(None)
            .client(provider, "m", &|name| {
                Some(if name == variable {
                    url.clone()
                } else {
                    "key-0123456".to_owned()
                })
            })
            .expect("a client");
        ask(&*client).await.expect("an answer");
        assert_eq!(fake.requests()[0].path, path, "{provider} {suffix}");
    }
}

#[tokio::test]
async fn the_second_key_of_google_is_used_when_the_first_is_not_set() {
    let fake = FakeModel::with_replies([Reply::text("Hi.")])
        .await
        .expect("a port");
    let client = factory(Some(&fake.origin()))
        .client("google", "models/gemini-x", &|name| {
            (name == "GEMINI_API_KEY").then(|| "key-0123456".to_owned())
        })
        .expect("a client");
    ask(&*client).await.expect("an answer");
    let request = &fake.requests()[0];
    assert_eq!(request.path, "/v1beta/models/gemini-x:generateContent");
    assert_eq!(request.headers["x-goog-api-key"], "key-0123456");
}
