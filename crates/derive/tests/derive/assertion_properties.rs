//! What holds for every match and every rule.

use proptest::prelude::*;
use serde_json::{Value, json};
use strandline_contract::{
    canonical::{canonical_json, json_equal},
    suite::{MatchOptions, ResolvedCase},
    transcript::{ToolCall, Transcript},
    words::{ArgumentMatching, CallOrder, Vocabulary},
};
use strandline_derive::assertions::{
    AssertionsInput, derive_assertions,
    grade::{CasePlan, PlanOptions, TrialEvidence},
    matching::{args_match, evaluate_tool_calls},
    options::MatchSettings,
};

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..3).prop_map(Value::from),
        (-3_i32..3).prop_map(|number| json!(f64::from(number))),
        prop_oneof![Just("any"), Just("number"), Just("x"), Just("é🚢")].prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[ab]", inner, 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn arguments() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[abc]", value(), 0..3)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
}

fn calls() -> impl Strategy<Value = Vec<ToolCall>> {
    let call = ("[ab]", arguments()).prop_map(|(tool_name, arguments)| ToolCall {
        tool_name,
        arguments,
        tool_call_id: None,
    });
    prop::collection::vec(call, 0..6)
}

fn settings() -> impl Strategy<Value = MatchSettings> {
    (
        prop::sample::select(CallOrder::ALL),
        prop::option::of(0_u64..3),
        prop::sample::select(ArgumentMatching::ALL),
    )
        .prop_map(|(order, extras_cap, arguments)| MatchSettings {
            order,
            extras_cap,
            arguments,
        })
}

fn roles() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({})),
        Just(json!({"role": "required"})),
        Just(json!({"role": "gating"})),
        Just(json!({"role": "advisory"})),
        Just(json!({"role": "advisory", "severity": "warn"})),
    ]
}

fn rule() -> impl Strategy<Value = Value> {
    prop_oneof![
        ("[ab]?", 1_u64..3).prop_map(|(tool, count)| json!({
            "type": "toolCalledWith", "toolName": tool, "args": {"args": {"a": "any"}}, "minCount": count,
        })),
        "[ab]?".prop_map(|tool| json!({"type": "toolNeverCalled", "toolName": tool})),
        "[ab]".prop_map(|tool| json!({"type": "firstToolWas", "toolName": tool})),
        (0_u64..4).prop_map(|count| json!({"type": "toolCallCountUnder", "count": count})),
        "[ab]{1,2}".prop_map(|needle| json!({"type": "responseContains", "needle": needle})),
        "[ab(*+)]{1,4}".prop_map(|pattern| json!({"type": "responseMatches", "pattern": pattern})),
        ("[ab{}\\[\\]^$.*\\\\]{1,5}", 0_u64..2).prop_map(|(pattern, min)| json!({
            "type": "toolInputMatches", "toolName": "a", "patterns": [pattern], "min": min, "max": 2,
        })),
        Just(json!({"type": "toolLatencyUnder", "ms": 5})),
        Just(json!({"type": "noRepeatedIdenticalCall"})),
        value(),
    ]
}

proptest! {
    /// Every expected call is missing, mismatched or paired; every call is an
    /// extra or paired; and nothing is paired twice.
    #[test]
    fn pairing_accounts_for_every_call(expected in calls(), actual in calls(), settings in settings()) {
        prop_assume!(!actual.is_empty());
        let result = evaluate_tool_calls(&expected, &actual, settings, false);
        let paired = expected.len() - result.missing.len();
        prop_assert_eq!(actual.len() - result.extra.len(), paired);
        prop_assert!(result.argument_mismatches.len() <= paired);
        let tolerated = settings.extras_cap.is_none_or(|cap| result.extra.len() as u64 <= cap);
        prop_assert_eq!(
            result.passed,
            result.missing.is_empty() && result.argument_mismatches.is_empty() && tolerated
        );
        if settings.arguments == ArgumentMatching::Ignore {
            prop_assert!(result.argument_mismatches.is_empty());
        }
        for mismatch in &result.argument_mismatches {
            prop_assert!(!args_match(
                &mismatch.expected_args,
                &mismatch.actual_args,
                settings.arguments,
            ));
        }
        prop_assert!(result.out_of_order.is_empty());
        prop_assert_eq!(&result, &evaluate_tool_calls(&expected, &actual, settings, false));
    }

    /// What was made exactly as demanded passes in every order and mode.
    #[test]
    fn doing_as_told_passes(expected in calls(), settings in settings()) {
        prop_assume!(!expected.is_empty());
        let literal = MatchSettings { arguments: ArgumentMatching::Exact, ..settings };
        prop_assert!(evaluate_tool_calls(&expected, &expected, literal, false).passed);
    }

    /// A stricter order never passes what a looser one fails, as long as no
    /// expectation can take another one's call.
    #[test]
    fn strict_order_implies_order_implies_any(actual in calls(), picks in prop::collection::vec(any::<bool>(), 6)) {
        let expected: Vec<ToolCall> = actual
            .iter()
            .zip(&picks)
            .filter(|(_, picked)| **picked)
            .map(|(call, _)| call.clone())
            .collect();
        prop_assume!(!actual.is_empty());
        let passes = |order| {
            let settings = MatchSettings { order, extras_cap: None, arguments: ArgumentMatching::Exact };
            evaluate_tool_calls(&expected, &actual, settings, false).passed
        };
        prop_assert!(passes(CallOrder::Superset), "a subsequence keeps its order");
        prop_assert!(passes(CallOrder::Ignore));
        if passes(CallOrder::Strict) {
            prop_assert!(passes(CallOrder::Superset));
        }
    }

    /// Exact arguments match partially unless they are placeholders, and
    /// equality is the equality of canonical texts.
    #[test]
    fn equality_and_canonical_text_agree(left in value(), right in value()) {
        prop_assert_eq!(
            json_equal(&left, &right),
            canonical_json(&left) == canonical_json(&right)
        );
        prop_assert!(json_equal(&left, &left));
    }

    #[test]
    fn canonical_text_reads_back_as_the_same_value(value in value()) {
        let text = canonical_json(&value);
        let read: Value = serde_json::from_str(&text).expect("canonical JSON is JSON");
        prop_assert!(json_equal(&read, &value));
        prop_assert_eq!(canonical_json(&read), text);
    }

    /// One row per rule, in order, the same every time; a role changes the
    /// stored rule and nothing else.
    #[test]
    fn rows_do_not_depend_on_roles(
        tool_calls in calls(),
        message in prop::option::of("[ab]{0,6}"),
        rules in prop::collection::vec(rule(), 0..5),
        role in roles(),
    ) {
        let transcript = Transcript {
            tool_calls,
            final_assistant_message: message,
            ..Transcript::default()
        };
        let with_role: Vec<Value> = rules
            .iter()
            .map(|rule| {
                let mut rule = rule.clone();
                if let (Some(rule), Some(role)) = (rule.as_object_mut(), role.as_object()) {
                    rule.remove("role");
                    rule.extend(role.clone());
                }
                rule
            })
            .collect();
        let plain = derive_assertions(&AssertionsInput { transcript: transcript.clone(), rules: rules.clone() });
        let again = derive_assertions(&AssertionsInput { transcript: transcript.clone(), rules: rules.clone() });
        prop_assert_eq!(&plain, &again);
        let roled = derive_assertions(&AssertionsInput { transcript, rules: with_role });
        prop_assert_eq!(plain.rows.len(), rules.len());
        for (plain, roled) in plain.rows.iter().zip(&roled.rows) {
            prop_assert_eq!((plain.passed, plain.status, &plain.reason), (roled.passed, roled.status, &roled.reason));
            prop_assert!(!(plain.passed && plain.is_error()));
            prop_assert!(plain.reason.encode_utf16().count() <= 600 + 24);
        }
    }

    /// Advisory rules never fail a trial and never break its grade.
    #[test]
    fn advisory_rules_never_gate(tool_calls in calls(), rules in prop::collection::vec(rule(), 0..5)) {
        let rules: Vec<Value> = rules
            .into_iter()
            .filter_map(|mut rule| {
                rule.as_object_mut()?.insert("role".to_owned(), json!("advisory"));
                Some(rule)
            })
            .collect();
        let case: ResolvedCase = serde_json::from_value(json!({
            "id": "c", "title": "t", "steps": [{"id": "p", "kind": "prompt", "prompt": "p"}],
            "assertions": rules, "isNegativeTest": false, "model": "m", "iterations": 1,
            "passThreshold": 1.0, "disabled": false,
        }))
        .expect("a resolved case");
        let plan = CasePlan::compile(&case, PlanOptions {
            run_match: Some(&MatchOptions::default()),
            ..PlanOptions::default()
        })
        .expect("valid match options");
        let transcript = Transcript { tool_calls: tool_calls.clone(), ..Transcript::default() };
        let grade = plan.grade(&TrialEvidence {
            transcript: &transcript,
            turn_calls: &[tool_calls],
            steps: &[],
            iteration_error: None,
            trace_tool_failure: false,
            pinned_tool_errors: false,
            widget_failure: false,
            fail_on_tool_error: true,
        });
        prop_assert!(grade.passed && !grade.evaluator_error);
        prop_assert_eq!(grade.rows.len(), case.assertions.len());
    }
}
