//! What holds for every input.

use proptest::{collection::vec, option, prelude::*, sample::select};
use strandline_contract::{
    measurements::{CitedSpans, MeasuredRow, MeasurementsInput, TimedSpan},
    words::{Reach, Stage, StageState, Vocabulary},
};
use strandline_derive::measurements::{
    derive_measurements, disagreements, is_latency_eligible, validate_measurements,
};

fn span(id: String) -> impl Strategy<Value = TimedSpan<'static>> {
    let time = || option::weighted(0.9, (0..2_000_u32).prop_map(|time| f64::from(time) / 4.0));
    (time(), time(), time()).prop_map(move |(started_at, ended_at, end_ms)| TimedSpan {
        id: Some(id.clone().into()),
        started_at,
        ended_at,
        start_ms: None,
        end_ms,
    })
}

/// Six rows in order; spans with ids of their own.
fn input() -> impl Strategy<Value = MeasurementsInput<'static>> {
    let row = (select(StageState::ALL), option::of(vec("[a-h]", 0..7)));
    let spans: Vec<_> = ('a'..'g').map(|id| span(id.to_string())).collect();
    (vec(row, 6), spans).prop_map(|(rows, spans)| MeasurementsInput {
        stage_results: Stage::ALL
            .iter()
            .zip(rows)
            .map(|(stage, (state, ids))| MeasuredRow {
                stage: *stage,
                state,
                evidence: ids.map(|ids| CitedSpans {
                    span_ids: ids.into_iter().map(Into::into).collect(),
                }),
            })
            .collect(),
        stage_analyzer_version: Some(12),
        spans: Some(spans),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_validator_accepts_what_is_derived_and_it_agrees_with_the_chain(input in input()) {
        let derived = derive_measurements(&input);
        let stored = serde_json::to_value(&derived).expect("JSON");
        prop_assert_eq!(validate_measurements(&stored), Ok(()));
        let measured: Vec<_> = derived.rows.iter().map(|row| (row.stage, row.reach)).collect();
        let chained: Vec<_> = input.stage_results.iter().map(|row| (row.stage, row.state)).collect();
        prop_assert_eq!(disagreements(&measured, 12, &chained, 12), []);
    }

    #[test]
    fn the_order_of_rows_and_spans_does_not_matter(input in input(), turn in 0..6_usize) {
        let mut turned = input.clone();
        turned.stage_results.rotate_left(turn);
        if let Some(spans) = &mut turned.spans {
            spans.reverse();
        }
        prop_assert_eq!(derive_measurements(&turned), derive_measurements(&input));
    }

    #[test]
    fn latency_stands_only_where_a_stage_was_reached_and_may_carry_one(input in input()) {
        for row in derive_measurements(&input).rows {
            if row.latency.is_some() {
                prop_assert_eq!(row.reach, Reach::Reached);
                prop_assert!(is_latency_eligible(row.stage));
            }
        }
    }

    #[test]
    fn a_union_is_no_shorter_than_one_span_and_no_longer_than_all(input in input()) {
        let derived = derive_measurements(&input);
        let spans = input.spans.as_deref().unwrap_or_default();
        for (row, measured) in input.stage_results.iter().zip(&derived.rows) {
            let Some(latency) = measured.latency else { continue };
            let cited = row.evidence.iter().flat_map(|evidence| &evidence.span_ids);
            let lengths: Vec<f64> = cited
                .filter_map(|id| spans.iter().find(|span| span.id.as_ref() == Some(id)))
                .filter_map(|span| Some(span.ended_at.or(span.end_ms)? - span.started_at?))
                .filter(|length| *length >= 0.0)
                .collect();
            let longest = lengths.iter().copied().fold(0.0, f64::max);
            let together: f64 = lengths.iter().sum();
            // Quarters of a millisecond add up exactly.
            prop_assert!(latency.value >= longest && latency.value <= together);
        }
    }
}
