//! The grade of a trial: turns, steps, rows, roll-up, scores
//! (`assertions.md` §3–§5, §7, §9, §11, §12).

use serde_json::{Value, json};
use strandline_contract::{
    suite::{MatchOptions, ResolvedCase},
    transcript::{ToolCall, Transcript, no_arguments},
    words::{RuleRole, StandardCheck, Vacuity, Vocabulary},
};
use strandline_derive::assertions::{
    grade::{CasePlan, Grade, PlanOptions, StepGrade, TrialEvidence},
    standard,
    vacuity::vacuity,
};

fn case(steps: &Value, more: &Value) -> ResolvedCase {
    let mut case = json!({
        "id": "c", "title": "t", "steps": steps, "assertions": [], "isNegativeTest": false,
        "model": "m", "iterations": 1, "passThreshold": 1.0, "disabled": false,
    });
    for (key, value) in more.as_object().expect("an object") {
        case[key] = value.clone();
    }
    serde_json::from_value(case).expect("a resolved case")
}

fn prompt(text: &str) -> Value {
    json!({"id": text, "kind": "prompt", "prompt": text})
}

fn pinned(tool: &str) -> Value {
    json!({"id": tool, "kind": "toolCall", "serverName": "shop", "toolName": tool, "arguments": {}})
}

fn expects(tool: &str, args: &Value, more: &Value) -> Value {
    let mut assertion = json!({"type": "toolCalledWith", "toolName": tool, "args": {"args": args}});
    for (key, value) in more.as_object().expect("an object") {
        assertion[key] = value.clone();
    }
    let id = format!("{tool}{args}");
    json!({"id": id, "kind": "assert", "assertion": assertion})
}

fn call(tool: &str, args: Value) -> ToolCall {
    ToolCall {
        tool_name: tool.to_owned(),
        arguments: args,
        tool_call_id: None,
    }
}

fn options(order: &str, extra: Value) -> MatchOptions {
    MatchOptions {
        tool_call_order: Some(order.to_owned()),
        extra_tool_calls: Some(extra),
        arguments: None,
    }
}

fn plan(case: &ResolvedCase, run_match: &MatchOptions) -> CasePlan {
    CasePlan::compile(
        case,
        PlanOptions {
            run_match: Some(run_match),
            ..PlanOptions::default()
        },
    )
    .expect("valid match options")
}

/// Plays a trial: every assert step is graded after all calls of its turn.
fn play(plan: &CasePlan, case: &ResolvedCase, turn_calls: &[Vec<ToolCall>]) -> Grade {
    let transcript = Transcript {
        tool_calls: turn_calls.concat(),
        ..Transcript::default()
    };
    let ordinals = strandline_derive::assertions::expectations::turn_ordinals(&case.steps);
    let steps: Vec<StepGrade> = ordinals
        .iter()
        .enumerate()
        .filter_map(|(index, turn)| {
            let calls = turn_calls.get(*turn as usize)?;
            plan.grade_step(index, calls, &transcript)
        })
        .collect();
    plan.grade(&TrialEvidence {
        transcript: &transcript,
        turn_calls,
        steps: &steps,
        iteration_error: None,
        trace_tool_failure: false,
        pinned_tool_errors: false,
        widget_failure: false,
        fail_on_tool_error: true,
    })
}

fn grade(
    steps: &Value,
    more: &Value,
    run_match: &MatchOptions,
    turn_calls: &[Vec<ToolCall>],
) -> Grade {
    let case = case(steps, more);
    play(&plan(&case, run_match), &case, turn_calls)
}

fn names(calls: &[ToolCall]) -> Vec<&str> {
    calls.iter().map(|call| call.tool_name.as_str()).collect()
}

#[test]
fn a_turn_is_graded_as_the_table_says() {
    let (one, two) = (json!({"x": 1}), json!({"x": 2}));
    let both = [
        expects("a", &one, &json!({})),
        expects("a", &two, &json!({})),
    ];
    let swapped = vec![call("a", two.clone()), call("a", one.clone())];
    let other = vec![call("b", no_arguments())];
    // Expectations, calls, order, cap; expectations hold, sequence, out of
    // order, extras, extras hold, turn.
    let rows = [
        (
            both.to_vec(),
            &swapped,
            "any",
            Value::Null,
            "✓✓",
            true,
            0,
            0,
            true,
            true,
        ),
        (
            both.to_vec(),
            &swapped,
            "exact",
            Value::Null,
            "✓✓",
            false,
            2,
            0,
            true,
            false,
        ),
        (
            both.to_vec(),
            &swapped,
            "in-order",
            Value::Null,
            "✓✓",
            false,
            1,
            1,
            true,
            false,
        ),
        (
            vec![expects("a", &json!({}), &json!({"minCount": 2}))],
            &vec![call("a", json!({}))],
            "any",
            Value::Null,
            "✗",
            true,
            0,
            0,
            true,
            false,
        ),
        (
            vec![expects("a", &one, &json!({}))],
            &vec![call("a", two.clone())],
            "any",
            Value::Null,
            "✗",
            true,
            0,
            0,
            true,
            false,
        ),
        (
            vec![expects(
                "a",
                &one,
                &json!({"args": {"args": one, "argumentMatching": "ignore"}}),
            )],
            &vec![call("a", two.clone())],
            "any",
            Value::Null,
            "✓",
            true,
            0,
            0,
            true,
            true,
        ),
        (
            vec![],
            &other,
            "any",
            json!(0),
            "",
            true,
            0,
            1,
            false,
            false,
        ),
        (
            vec![],
            &other,
            "any",
            Value::Null,
            "",
            true,
            0,
            1,
            true,
            true,
        ),
    ];
    for (expectations, calls, order, cap, hold, sequence, out_of_order, extras, within, passed) in
        rows
    {
        let mut steps = vec![prompt("p")];
        steps.extend(expectations);
        let cap = if cap.is_null() {
            json!("unlimited")
        } else {
            cap
        };
        let graded = grade(
            &json!(steps),
            &json!({}),
            &options(order, cap),
            std::slice::from_ref(calls),
        );
        let turn = &graded.turns[0];
        let held: String = turn
            .expectations
            .iter()
            .map(|grade| if grade.passed() { '✓' } else { '✗' })
            .collect();
        assert_eq!(held, hold);
        assert_eq!(
            (turn.sequence.passed, turn.sequence.out_of_order_slots),
            (sequence, out_of_order)
        );
        assert_eq!((turn.extras.count, turn.extras.passed), (extras, within));
        assert_eq!(turn.passed, passed);
        assert_eq!(graded.roll_up.passed, passed);
        assert_eq!(graded.passed, passed);
        assert_eq!(tool_scores_hold(&graded), passed);
    }
}

fn tool_scores_hold(grade: &Grade) -> bool {
    grade
        .scores
        .iter()
        .filter(|score| score.id.starts_with("toolCalls:"))
        .all(|score| score.value == Some(1))
}

#[test]
fn a_step_sees_the_calls_so_far_and_the_expectations_above_it() {
    let case = case(
        &json!([
            prompt("p"),
            expects("a", &json!({"x": "number"}), &json!({})),
            expects("a", &json!({"x": 1}), &json!({})),
        ]),
        &json!({}),
    );
    let plan = plan(&case, &MatchOptions::default());
    let so_far = Transcript::default();
    let calls = [call("a", json!({"x": 1}))];
    // The first expectation takes the only call, so the second one lacks it.
    let first = plan.grade_step(1, &calls, &so_far).expect("an assert step");
    assert!(first.row.passed && !first.stops, "{}", first.row.reason);
    let second = plan.grade_step(2, &calls, &so_far).expect("an assert step");
    assert!(!second.row.passed && second.stops, "{}", second.row.reason);
    assert_eq!(
        serde_json::to_value(second.row.scope).expect("a scope is JSON"),
        json!({"kind": "turn", "promptIndex": 0})
    );
    assert!(plan.grade_step(0, &calls, &so_far).is_none());
}

#[test]
fn calls_never_cross_turns() {
    // §12, 29.
    let graded = grade(
        &json!([
            prompt("one"),
            expects("a", &json!({}), &json!({})),
            prompt("two")
        ]),
        &json!({}),
        &MatchOptions::default(),
        &[vec![], vec![call("a", json!({}))]],
    );
    assert_eq!(
        graded
            .prompts
            .iter()
            .map(|turn| turn.passed)
            .collect::<Vec<_>>(),
        [false, true]
    );
    assert_eq!(names(&graded.prompts[0].missing), ["a"]);
    assert_eq!(graded.roll_up.first_failed_turn_index, Some(0));
    assert_eq!(
        (graded.roll_up.turn_count, graded.roll_up.failed_turn_count),
        (2, 1)
    );
}

#[test]
fn a_turn_over_the_cap_fails_without_any_expectation() {
    // §12, 30.
    let over = MatchOptions {
        extra_tool_calls: Some(json!(0)),
        ..MatchOptions::default()
    };
    let calls = [vec![call("b", json!({}))]];
    let graded = grade(&json!([prompt("p")]), &json!({}), &over, &calls);
    assert!(!graded.prompts[0].passed);
    assert_eq!(names(&graded.prompts[0].unexpected), ["b"]);
    assert_eq!(names(&graded.roll_up.unexpected), ["b"]);
    let tolerated = grade(
        &json!([prompt("p")]),
        &json!({}),
        &MatchOptions::default(),
        &calls,
    );
    assert_eq!(names(&tolerated.prompts[0].unexpected), [""; 0]);
    assert!(tolerated.passed);
}

#[test]
fn a_negative_case_passes_on_silence_alone() {
    let negative = json!({"isNegativeTest": true});
    let silent = grade(
        &json!([prompt("p")]),
        &negative,
        &MatchOptions::default(),
        &[vec![]],
    );
    assert!(silent.passed);
    let spoke = grade(
        &json!([prompt("p"), prompt("q")]),
        &negative,
        &MatchOptions::default(),
        &[vec![], vec![call("b", json!({}))]],
    );
    assert!(!spoke.passed);
    assert_eq!(names(&spoke.prompts[1].unexpected), ["b"]);
    assert_eq!(spoke.roll_up.first_failed_turn_index, Some(1));
    assert!(!tool_scores_hold(&spoke));
    assert_eq!(spoke.scores.len(), 1, "no argument row on a negative case");
}

#[test]
fn a_pinned_turn_is_exempt_but_its_expectations_are_graded() {
    let none = MatchOptions {
        extra_tool_calls: Some(json!(0)),
        ..MatchOptions::default()
    };
    let steps = json!([pinned("a"), expects("a", &json!({"x": 1}), &json!({}))]);
    let graded = grade(
        &steps,
        &json!({}),
        &none,
        &[vec![call("a", json!({"x": 2}))]],
    );
    let summary = &graded.prompts[0];
    assert!(summary.pinned && summary.passed);
    assert_eq!(names(&summary.expected_tool_calls), [""; 0]);
    assert_eq!(graded.turns[0].extras.count, 0);
    // The step's own required row fails the trial.
    assert!(!graded.rows[0].passed && !graded.passed);
    // It decides no stage through its row (§10).
    assert!(graded.chain_rows.is_empty());
}

#[test]
fn skill_housekeeping_is_no_call_unless_it_is_expected() {
    let steps = json!([prompt("p"), expects("loadSkill", &json!({}), &json!({}))]);
    let case = case(&steps, &json!({}));
    let strict = MatchOptions {
        extra_tool_calls: Some(json!(0)),
        ..MatchOptions::default()
    };
    let plan = CasePlan::compile(
        &case,
        PlanOptions {
            run_match: Some(&strict),
            skill_tools: true,
            ..PlanOptions::default()
        },
    )
    .expect("valid match options");
    let calls = [vec![
        call("listSkills", json!({})),
        call("loadSkill", json!({})),
    ]];
    let graded = play(&plan, &case, &calls);
    assert!(graded.passed);
    assert_eq!(graded.turns[0].expectations[0].paired_call_indexes, [1]);
    assert_eq!(
        names(&graded.prompts[0].actual_tool_calls),
        ["listSkills", "loadSkill"]
    );
}

#[test]
fn an_impossible_count_is_counted_without_being_listed() {
    let steps = json!([
        prompt("p"),
        expects(
            "a",
            &json!({}),
            &json!({"minCount": 9_007_199_254_740_991_u64})
        )
    ]);
    let graded = grade(
        &steps,
        &json!({}),
        &MatchOptions::default(),
        &[vec![call("a", json!({}))]],
    );
    assert_eq!(
        graded.turns[0].expectations[0].missing_slots,
        9_007_199_254_740_990
    );
    assert!(graded.prompts[0].missing.len() < 200);
    let invalid = json!([
        prompt("p"),
        expects("a", &json!({}), &json!({"minCount": 0}))
    ]);
    let graded = grade(
        &invalid,
        &json!({}),
        &MatchOptions::default(),
        &[vec![call("a", json!({}))]],
    );
    assert!(!graded.passed && !tool_scores_hold(&graded));
}

#[test]
fn case_rows_come_first_and_step_rows_follow_by_turn() {
    let graded = grade(
        &json!([
            {"id": "s0", "kind": "assert", "assertion": {"type": "noToolErrors"}},
            prompt("p"),
            expects("a", &json!({}), &json!({"role": "advisory"})),
            {"id": "s3", "kind": "assert", "assertion": {"type": "toolNeverCalled", "toolName": "b"}},
        ]),
        &json!({"assertions": [{"type": "toolCalledAtLeastOnce", "toolName": "a"}]}),
        &MatchOptions::default(),
        &[vec![], vec![call("a", json!({}))]],
    );
    let kinds: Vec<_> = graded
        .rows
        .iter()
        .map(|row| row.predicate["type"].as_str().expect("a kind"))
        .collect();
    assert_eq!(
        kinds,
        [
            "toolCalledAtLeastOnce",
            "noToolErrors",
            "toolCalledWith",
            "toolNeverCalled"
        ]
    );
    assert!(graded.rows[0].scope.is_none() && graded.rows[1].scope.is_some());
    // An advisory `toolCalledWith` is a predicate like any other.
    assert_eq!(graded.chain_rows.len(), 4);
    assert_eq!(graded.prompts[1].expected_tool_calls.len(), 0);
}

#[test]
fn an_error_row_of_a_required_rule_is_nobodys_failure() {
    // §12, 25.
    let rule = json!({"assertions": [{"type": "toolLatencyUnder", "ms": 10}]});
    let graded = grade(
        &json!([prompt("p")]),
        &rule,
        &MatchOptions::default(),
        &[vec![]],
    );
    assert!(graded.rows[0].is_error());
    assert!(!graded.passed && graded.evaluator_error);
    let score = graded.scores.last().expect("a score per rule");
    assert_eq!(
        (score.value, score.required, score.on_error.wire()),
        (None, true, "unresolved")
    );
    let advisory =
        json!({"assertions": [{"type": "toolLatencyUnder", "ms": 10, "role": "advisory"}]});
    let graded = grade(
        &json!([prompt("p")]),
        &advisory,
        &MatchOptions::default(),
        &[vec![]],
    );
    assert!(graded.passed && !graded.evaluator_error);
}

#[test]
fn widget_rules_cannot_be_evaluated_without_a_browser() {
    let rule = json!({"assertions": [{"type": "widgetRendered", "role": "advisory"}]});
    let graded = grade(
        &json!([prompt("p")]),
        &rule,
        &MatchOptions::default(),
        &[vec![]],
    );
    assert!(graded.rows[0].is_error() && graded.passed);
}

#[test]
fn tool_errors_fail_a_trial_unless_it_tolerates_them() {
    let case = case(&json!([prompt("p")]), &json!({}));
    let plan = plan(&case, &MatchOptions::default());
    let transcript = Transcript::default();
    let base = TrialEvidence {
        transcript: &transcript,
        turn_calls: &[vec![]],
        steps: &[],
        iteration_error: None,
        trace_tool_failure: false,
        pinned_tool_errors: false,
        widget_failure: false,
        fail_on_tool_error: true,
    };
    assert!(plan.grade(&base).passed);
    for (trial, tolerant) in [
        (
            TrialEvidence {
                iteration_error: Some("no"),
                ..base
            },
            true,
        ),
        (
            TrialEvidence {
                trace_tool_failure: true,
                ..base
            },
            true,
        ),
        (
            TrialEvidence {
                pinned_tool_errors: true,
                ..base
            },
            true,
        ),
        (
            TrialEvidence {
                widget_failure: true,
                ..base
            },
            false,
        ),
    ] {
        assert!(!plan.grade(&trial).passed);
        let trial = TrialEvidence {
            fail_on_tool_error: false,
            ..trial
        };
        assert_eq!(plan.grade(&trial).passed, tolerant);
    }
    assert!(
        plan.grade(&TrialEvidence {
            iteration_error: Some(" \n"),
            ..base
        })
        .passed
    );
}

#[test]
fn score_ids_do_not_depend_on_role_or_place() {
    // §12, 28.
    let ids = |rules: Value| -> Vec<String> {
        let graded = grade(
            &json!([prompt("p")]),
            &json!({ "assertions": rules }),
            &MatchOptions::default(),
            &[vec![]],
        );
        let scores = graded.scores.into_iter();
        scores
            .map(|score| score.id)
            .filter(|id| id.starts_with("predicate:"))
            .collect()
    };
    let never = |more: Value| {
        let mut rule = json!({"type": "toolNeverCalled", "toolName": "a"});
        for (key, value) in more.as_object().expect("an object") {
            rule[key] = value.clone();
        }
        rule
    };
    let plain = ids(json!([never(json!({}))]));
    assert!(plain[0].starts_with("predicate:toolNeverCalled#"));
    for more in [
        json!({"role": "required"}),
        json!({"role": "gating"}),
        json!({"role": "advisory", "severity": "warn"}),
    ] {
        assert_eq!(ids(json!([never(more)])), plain);
    }
    let repeated =
        ids(json!([{"type": "noToolErrors"}, never(json!({})), never(json!({"role": "gating"}))]));
    assert_eq!(repeated[1], plain[0]);
    assert_eq!(repeated[2], format!("{}.2", plain[0]));
    assert_ne!(ids(json!([never(json!({"toolName": "b"}))])), plain);
}

#[test]
fn argument_scores_name_keys_and_never_values() {
    let graded = grade(
        &json!([
            prompt("p"),
            expects("a", &json!({"pin": "4711"}), &json!({})),
            prompt("q")
        ]),
        &json!({}),
        &MatchOptions::default(),
        &[vec![call("a", json!({"pin": "0815"}))], vec![]],
    );
    let score = graded
        .scores
        .iter()
        .find(|score| score.id == "toolCalls:arguments")
        .expect("an argument score");
    assert_eq!(score.value, Some(0));
    assert_eq!(score.reason, "turn 0: a (pin)");
}

#[test]
fn standard_checks_are_advisory_and_can_be_suppressed() {
    let plain = case(&json!([prompt("p")]), &json!({}));
    assert_eq!(standard::inherited(&plain).len(), StandardCheck::ALL.len());
    for rule in standard::inherited(&plain) {
        assert_eq!(
            (&rule["role"], &rule["severity"]),
            (&json!("advisory"), &json!("warn"))
        );
    }
    let suppressing = case(
        &json!([prompt("p")]),
        &json!({
            "assertions": [{"type": "noToolErrors"}],
            "suppressedSuiteStandardCheckIds": ["response.errors", "userValue.turns", "no.such"],
        }),
    );
    let inherited = standard::inherited(&suppressing);
    assert_eq!(inherited.len(), StandardCheck::ALL.len() - 2);
    let plan = CasePlan::compile(
        &suppressing,
        PlanOptions {
            inherited: &inherited,
            ..PlanOptions::default()
        },
    )
    .expect("valid match options");
    let graded = play(&plan, &suppressing, &[vec![]]);
    let kinds: Vec<_> = graded
        .rows
        .iter()
        .map(|row| row.predicate["type"].clone())
        .collect();
    assert_eq!(
        kinds.iter().filter(|kind| **kind == "noToolErrors").count(),
        1
    );
    assert_eq!(
        kinds.last(),
        Some(&json!("noToolErrors")),
        "the case's own list comes last"
    );
}

#[test]
fn match_options_are_layered_field_by_field() {
    let suite = options("exact", json!(3));
    let case_options = json!({"matchOptions": {"extraToolCalls": "unlimited"}});
    let case = case(&json!([prompt("p")]), &case_options);
    let run = MatchOptions {
        arguments: Some("ignore".to_owned()),
        ..MatchOptions::default()
    };
    let plan = CasePlan::compile(
        &case,
        PlanOptions {
            suite_match: Some(&suite),
            run_match: Some(&run),
            ..PlanOptions::default()
        },
    )
    .expect("valid match options");
    let settings = plan.settings();
    assert_eq!(
        (
            settings.order.wire(),
            settings.extras_cap,
            settings.arguments.wire()
        ),
        ("strict", None, "ignore")
    );
    let bad = options("strict", json!(-1));
    let error = CasePlan::compile(
        &case,
        PlanOptions {
            run_match: Some(&bad),
            ..PlanOptions::default()
        },
    )
    .expect_err("`strict` is the stored spelling");
    assert_eq!(
        error.to_string(),
        "match option `toolCallOrder` must be `any`, `in-order` or `exact`, not \"strict\""
    );
}

#[test]
fn a_case_that_passes_on_nothing_is_seen() {
    let of = |steps: Value, more: Value| vacuity(&case(&steps, &more), false);
    let asserts =
        |rule: Value| json!([prompt("p"), {"id": "s", "kind": "assert", "assertion": rule}]);
    let own = |rule: Value| json!({ "assertions": [rule] });
    let bare = json!([prompt("p")]);
    assert_eq!(of(bare.clone(), json!({})), Vacuity::Vacuous);
    assert_eq!(
        of(bare.clone(), json!({"isNegativeTest": true})),
        Vacuity::NotApplicable
    );
    for (rule, expected) in [
        (json!({"type": "noToolErrors"}), Vacuity::Vacuous),
        (
            json!({"type": "turnCountUnder", "turns": 2}),
            Vacuity::Vacuous,
        ),
        (
            json!({"type": "turnCountUnder", "turns": 1}),
            Vacuity::CanFail,
        ),
        (
            json!({"type": "responseContains", "needle": "x"}),
            Vacuity::CanFail,
        ),
        (
            json!({"type": "responseContains", "needle": "x", "role": "advisory"}),
            Vacuity::Vacuous,
        ),
        (json!({"type": "widgetRendered"}), Vacuity::CannotTell),
        (
            json!({"type": "toolDescriptionsPresent"}),
            Vacuity::CannotTell,
        ),
        (
            json!({"type": "toolLatencyUnder", "ms": 5}),
            Vacuity::CannotTell,
        ),
        (
            json!({"type": "toolCalledAtLeastOnce", "toolName": "a"}),
            Vacuity::CanFail,
        ),
    ] {
        assert_eq!(of(bare.clone(), own(rule.clone())), expected, "{rule}");
        assert_eq!(of(asserts(rule.clone()), json!({})), expected, "{rule}");
    }
    let expectation = json!([prompt("p"), expects("a", &json!({}), &json!({}))]);
    assert_eq!(of(expectation, json!({})), Vacuity::CanFail);
    let widget = json!({"kind": "textVisible", "toolName": "a", "text": "x"});
    assert_eq!(of(asserts(widget), json!({})), Vacuity::CannotTell);
    assert_eq!(vacuity(&case(&bare, &json!({})), true), Vacuity::CannotTell);
}

#[test]
fn only_the_literal_advisory_ungates() {
    // §12, 26.
    for (role, expected) in [
        (json!("advisory"), RuleRole::Advisory),
        (json!("advisry"), RuleRole::Required),
        (json!("gating"), RuleRole::Required),
        (json!(null), RuleRole::Required),
        (json!(7), RuleRole::Required),
    ] {
        let rule = json!({"type": "noToolErrors", "role": role});
        let rule = rule.as_object().expect("an object");
        assert_eq!(strandline_derive::assertions::role::role_of(rule), expected);
    }
}
