use std::{fs, path::Path};

use assert_cmd::Command;
use strandline_contract::words::registry;

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn printed(form: &str) -> String {
    let assert = Command::cargo_bin("strandline")
        .expect("the binary is built")
        .args(["glossary", form])
        .assert()
        .success();
    String::from_utf8_lossy(&assert.get_output().stdout).into_owned()
}

#[test]
fn the_checked_in_glossaries_are_up_to_date() {
    for (form, page) in [
        ("--markdown", "docs/glossary.md"),
        ("--skill", "skills/strandline-glossary/SKILL.md"),
    ] {
        let stored = fs::read_to_string(repository().join(page)).unwrap_or_default();
        assert!(
            stored == printed(form),
            "run `cargo run -p strandline -- glossary {form} > {page}`"
        );
    }
}

#[test]
fn the_skill_names_every_word_and_quotes_every_label() {
    let skill = fs::read_to_string(repository().join("skills/strandline-glossary/SKILL.md"))
        .expect("the skill is readable");
    for vocabulary in registry() {
        for entry in &vocabulary.entries {
            let row = format!("| `{}` | {} |", entry.wire, entry.label.replace('|', "\\|"));
            assert!(skill.contains(&row), "{}: {row}", vocabulary.name);
        }
    }
}

/// Pages for people and agents name commands; all of them must exist.
#[test]
fn every_command_that_a_page_names_exists() {
    let help = Command::cargo_bin("strandline")
        .expect("the binary is built")
        .arg("--help")
        .assert()
        .success();
    let help = String::from_utf8_lossy(&help.get_output().stdout).into_owned();
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .collect();
    assert!(commands.contains(&"run"), "{help}");
    let mut pages = vec![
        repository().join("README.md"),
        repository().join("skills/strandline-evals/SKILL.md"),
    ];
    let guides = fs::read_dir(repository().join("docs/guides")).expect("guides");
    pages.extend(guides.map(|entry| entry.expect("an entry").path()));
    for page in pages {
        let text = fs::read_to_string(&page).expect("the page is readable");
        for named in text.split("`strandline ").skip(1) {
            let command: String = named
                .chars()
                .take_while(|character| character.is_ascii_lowercase() || *character == '-')
                .collect();
            assert!(
                commands.contains(&command.as_str()),
                "{}: `strandline {command}`",
                page.display()
            );
        }
    }
}
