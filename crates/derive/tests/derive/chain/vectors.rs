use strandline_contract::chain_input::ChainInput;
use strandline_derive::chain::derive_chain;
use strandline_testkit::vectors;

#[test]
fn chains_are_as_the_vectors_say() {
    vectors::check("chain", |input| {
        let input: ChainInput<'_> =
            serde_json::from_str(input).map_err(|error| error.to_string())?;
        Ok(serde_json::to_value(derive_chain(&input)).expect("a chain is JSON"))
    });
}
