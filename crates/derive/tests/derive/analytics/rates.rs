//! Rates without a denominator measure nothing.

use serde_json::json;
use strandline_contract::rate::{Counts, Rate};
use strandline_derive::analytics::{latency_mean_ms, stage_rate};

#[test]
fn only_a_fraction_of_something_is_a_rate() {
    let none = Counts::new;
    assert_eq!(
        json!(stage_rate(0, 3, none())),
        json!({"state": "measured", "value": 0, "numerator": 0, "denominator": 3, "exclusions": {}})
    );
    for (numerator, denominator) in [(0, 0), (5, 4)] {
        let rate = stage_rate(numerator, denominator, none());
        assert_eq!(rate, Rate::NotMeasured { exclusions: none() });
        assert_eq!(
            json!(rate),
            json!({"state": "notMeasured", "value": null, "numerator": 0, "denominator": 0, "exclusions": {}})
        );
    }
    assert_eq!(latency_mean_ms(None), None);
}
