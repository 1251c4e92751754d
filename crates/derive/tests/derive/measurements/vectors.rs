use strandline_contract::measurements::MeasurementsInput;
use strandline_derive::measurements::derive_measurements;
use strandline_testkit::vectors;

#[test]
fn measurements_are_as_the_vectors_say() {
    vectors::check("measurements", |input| {
        let input: MeasurementsInput<'_> =
            serde_json::from_str(input).map_err(|error| error.to_string())?;
        Ok(serde_json::to_value(derive_measurements(&input)).expect("measurements are JSON"))
    });
}
