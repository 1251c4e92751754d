//! Reads the `error` member of a JSON-RPC answer.

use serde_json::Value;

use super::failure::one_line;

/// A JSON-RPC error with an integer code.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
}

/// Reads an error; says what is wrong with one that is none.
pub(crate) fn read_error(error: &Value) -> Result<RpcError, String> {
    let Some(members) = error.as_object() else {
        return Err(format!(
            "the `error` member is not an object: {}",
            shown(error)
        ));
    };
    let code = match members.get("code") {
        Some(code) => integer(code)
            .ok_or_else(|| format!("the error code is not an integer: {}", shown(code)))?,
        None => return Err(format!("the error has no code: {}", shown(error))),
    };
    let message = match members.get("message") {
        Some(Value::String(message)) => message.clone(),
        Some(other) => shown(other),
        None => String::new(),
    };
    Ok(RpcError {
        code,
        message,
        data: members.get("data").cloned(),
    })
}

impl std::fmt::Display for RpcError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "JSON-RPC error {}: {}",
            self.code,
            one_line(&self.message, 300)
        )
    }
}

/// Shows a value in one short line.
pub(crate) fn shown(value: &Value) -> String {
    one_line(&value.to_string(), 120)
}

/// `-32000.0` is an integer in JSON.
fn integer(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| {
        let float = value.as_f64()?;
        let whole = float.fract() == 0.0 && float.abs() < 9.0e15;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "checked to be a small whole number"
        )]
        whole.then_some(float as i64)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn codes_are_integers_in_any_spelling() {
        for code in [json!(-32000), json!(-32000.0)] {
            let error = read_error(&json!({"code": code, "message": "m", "data": [1]}));
            assert_eq!(error.map(|error| error.code), Ok(-32_000));
        }
    }

    #[test]
    fn what_is_no_error_says_why() {
        let cases = [
            (
                json!({"code": "E_FAIL", "message": "m"}),
                "the error code is not an integer: \"E_FAIL\"",
            ),
            (
                json!({"code": 1.5}),
                "the error code is not an integer: 1.5",
            ),
            (
                json!({"message": "m"}),
                "the error has no code: {\"message\":\"m\"}",
            ),
            (
                json!("boom"),
                "the `error` member is not an object: \"boom\"",
            ),
        ];
        for (error, message) in cases {
            assert_eq!(read_error(&error), Err(message.to_owned()));
        }
    }
}
