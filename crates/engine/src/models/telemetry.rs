//! Span attributes of a model request, by the OpenTelemetry conventions.

use std::borrow::Cow;

use serde_json::{Value, json};
use strandline_contract::{
    providers::find_provider,
    telemetry::{
        ERROR_TYPE, GEN_AI_OPERATION_NAME, GEN_AI_PROVIDER_NAME, GEN_AI_REQUEST_MODEL,
        GEN_AI_REQUEST_SEED, GEN_AI_REQUEST_TEMPERATURE, GEN_AI_RESPONSE_FINISH_REASONS,
        GEN_AI_RESPONSE_ID, GEN_AI_RESPONSE_MODEL, GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS,
        GEN_AI_USAGE_INPUT_TOKENS, GEN_AI_USAGE_OUTPUT_TOKENS, HTTP_REQUEST_RESEND_COUNT,
        HTTP_RESPONSE_STATUS_CODE,
    },
    trace::Attributes,
};

use super::{ModelClient, ModelError, ModelRequest, ModelResponse};

/// Returns the attributes of a span around one request to a model.
#[must_use]
pub fn chat_attributes(
    client: &dyn ModelClient,
    request: &ModelRequest<'_>,
    outcome: &Result<ModelResponse, ModelError>,
) -> Attributes {
    let provider = client.provider();
    let provider = find_provider(provider).map_or(provider, |provider| provider.telemetry_name);
    let mut attributes = Attributes::default();
    attributes.set(GEN_AI_OPERATION_NAME, Some("chat"));
    attributes.set(GEN_AI_PROVIDER_NAME, Some(provider));
    attributes.set(GEN_AI_REQUEST_MODEL, Some(client.model()));
    attributes.set(GEN_AI_REQUEST_TEMPERATURE, request.temperature);
    attributes.set(GEN_AI_REQUEST_SEED, request.seed);
    let attempts = match outcome {
        Ok(response) => {
            attributes.set(GEN_AI_RESPONSE_MODEL, response.served_model.as_deref());
            attributes.set(GEN_AI_RESPONSE_ID, response.response_id.as_deref());
            let reasons = response
                .finish_reason
                .as_ref()
                .map(|reason| json!([reason]));
            attributes.set(GEN_AI_RESPONSE_FINISH_REASONS, reasons);
            let usage = &response.usage;
            attributes.set(GEN_AI_USAGE_INPUT_TOKENS, usage.input_tokens);
            attributes.set(GEN_AI_USAGE_OUTPUT_TOKENS, usage.output_tokens);
            attributes.set(
                GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS,
                usage.cached_input_tokens,
            );
            response.attempts
        }
        Err(error) => {
            attributes.set(ERROR_TYPE, Some(error.kind.code()));
            attributes.set(HTTP_RESPONSE_STATUS_CODE, error.http_status);
            error.attempts
        }
    };
    let resent = attempts.saturating_sub(1);
    attributes.set(HTTP_REQUEST_RESEND_COUNT, (resent > 0).then_some(resent));
    attributes
}

trait Set {
    /// Sets an attribute that has a value.
    fn set(&mut self, name: &'static str, value: Option<impl Into<Value>>);
}

impl Set for Attributes {
    fn set(&mut self, name: &'static str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.insert(Cow::Borrowed(name), value.into());
        }
    }
}
