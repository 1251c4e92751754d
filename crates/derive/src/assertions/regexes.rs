//! Regular expressions as authors write them, translated to our engines
//! (`assertions.md` §8.5, §8.6).
//!
//! Two flavours are read. Pattern rules use RE2 syntax together with the
//! JavaScript spellings that RE2 can express; `responseMatches` uses
//! JavaScript syntax. In both, `\d \w \b` are ASCII. The linear engine is used
//! wherever it can be; look-around and back-references need the backtracking
//! one, which stops after a number of steps.

use std::{fmt::Write as _, iter::Peekable, str::Chars};

use regex::{Regex, RegexBuilder};

/// Most steps of the backtracking engine on one text.
const MAX_STEPS: usize = 1_000_000;
/// Most character pairs that a search may have to look at: look-around with an
/// unlimited repetition reads the rest of the text at every position, which
/// the backtracking engine does not count as steps.
const MAX_PAIRS: usize = 100_000_000;
/// Largest repetition count of RE2.
const MAX_REPEAT: u32 = 1_000;

/// A pattern that does not compile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidPattern(String);

/// The search took more steps than it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepLimit;

/// Compiles a pattern of `toolInputMatches` or `toolResultMatches`: RE2
/// syntax, linear time.
///
/// # Errors
///
/// [`InvalidPattern`] when the pattern does not compile.
pub fn linear(pattern: &str, flags: &str) -> Result<Regex, InvalidPattern> {
    let translated = Translation::of(pattern, Flavor::Re2)?;
    RegexBuilder::new(&translated.text)
        .case_insensitive(flags.contains('i'))
        .multi_line(flags.contains('m'))
        .dot_matches_new_line(flags.contains('s'))
        .build()
        .map_err(|error| InvalidPattern(one_line(&error.to_string())))
}

/// A compiled pattern of `responseMatches`.
#[derive(Debug, Clone)]
pub enum Search {
    /// The linear engine can express it.
    Linear(Regex),
    /// It needs look-around or a back-reference.
    Backtracking {
        /// The compiled pattern.
        regex: Box<fancy_regex::Regex>,
        /// The rest of the text may be read anew at every position.
        rereads: bool,
    },
}

impl Search {
    /// Compiles a pattern in JavaScript syntax, without flags.
    ///
    /// # Errors
    ///
    /// [`InvalidPattern`] when no engine compiles the pattern.
    pub fn compile(pattern: &str) -> Result<Self, InvalidPattern> {
        let mut translated = Translation::of(pattern, Flavor::JavaScript)?;
        if !translated.backtracks {
            return Regex::new(&translated.text)
                .map(Self::Linear)
                .map_err(|error| InvalidPattern(one_line(&error.to_string())));
        }
        translated = Translation::with_boundaries_spelled_out(pattern)?;
        fancy_regex::RegexBuilder::new(&translated.text)
            .backtrack_limit(MAX_STEPS)
            .build()
            .map(|regex| Self::Backtracking {
                regex: Box::new(regex),
                rereads: translated.unlimited && !pattern.starts_with('^'),
            })
            .map_err(|error| InvalidPattern(one_line(&error.to_string())))
    }

    /// Searches a text.
    ///
    /// # Errors
    ///
    /// [`StepLimit`] when the backtracking engine gave up.
    pub fn is_match(&self, text: &str) -> Result<bool, StepLimit> {
        match self {
            Self::Linear(regex) => Ok(regex.is_match(text)),
            Self::Backtracking { rereads: true, .. }
                if text.len().saturating_mul(text.len()) > MAX_PAIRS =>
            {
                Err(StepLimit)
            }
            Self::Backtracking { regex, .. } => regex.is_match(text).map_err(|_| StepLimit),
        }
    }
}

fn one_line(message: &str) -> String {
    message
        .lines()
        .last()
        .unwrap_or_default()
        .trim_start_matches("error: ")
        .to_owned()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flavor {
    Re2,
    JavaScript,
}

/// White space of JavaScript, as the inside of a class.
const SPACE: &str = r"\t\n\x{b}\x{c}\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}";
/// White space of RE2, as the inside of a class.
const RE2_SPACE: &str = r"\t\n\x{c}\r ";
const DIGIT: &str = "0-9";
const WORD: &str = "0-9A-Za-z_";

/// A pattern in the syntax of our engines.
struct Translation<'a> {
    flavor: Flavor,
    source: Peekable<Chars<'a>>,
    text: String,
    /// Only the backtracking engine can express it.
    backtracks: bool,
    /// Something may be repeated without limit.
    unlimited: bool,
    /// Word boundaries are written as look-around.
    spell_out: bool,
    /// What stands before can be repeated.
    repeatable: bool,
    groups: usize,
    /// Highest numbered back-reference.
    highest_reference: usize,
}

impl<'a> Translation<'a> {
    fn of(pattern: &'a str, flavor: Flavor) -> Result<Self, InvalidPattern> {
        Self::translate(pattern, flavor, false)
    }

    /// The backtracking engine has no ASCII word boundary of its own.
    fn with_boundaries_spelled_out(pattern: &'a str) -> Result<Self, InvalidPattern> {
        Self::translate(pattern, Flavor::JavaScript, true)
    }

    fn translate(
        pattern: &'a str,
        flavor: Flavor,
        spell_out: bool,
    ) -> Result<Self, InvalidPattern> {
        let mut translation = Self {
            flavor,
            source: pattern.chars().peekable(),
            text: String::with_capacity(pattern.len() + 16),
            backtracks: false,
            unlimited: false,
            spell_out,
            repeatable: false,
            groups: 0,
            highest_reference: 0,
        };
        while let Some(character) = translation.source.next() {
            translation.element(character)?;
        }
        if translation.highest_reference > translation.groups {
            return invalid("a back-reference to a group that does not exist");
        }
        Ok(translation)
    }

    fn element(&mut self, character: char) -> Result<(), InvalidPattern> {
        match character {
            '\\' => self.escape()?,
            '[' => {
                self.class()?;
                self.repeatable = true;
            }
            '(' => self.group()?,
            ')' => {
                self.text.push(')');
                self.repeatable = true;
            }
            '|' => {
                self.text.push('|');
                self.repeatable = false;
            }
            '^' | '$' => {
                self.text.push(character);
                self.repeatable = self.flavor == Flavor::Re2;
            }
            '.' => {
                match self.flavor {
                    Flavor::Re2 => self.text.push('.'),
                    Flavor::JavaScript => self.text.push_str(r"[^\n\r\x{2028}\x{2029}]"),
                }
                self.repeatable = true;
            }
            '*' | '+' | '?' => self.quantifier(&character.to_string())?,
            '{' => match self.counts() {
                Some(counts) => self.quantifier(&counts)?,
                None => self.literal('{'),
            },
            other => self.literal(other),
        }
        Ok(())
    }

    fn literal(&mut self, character: char) {
        push_literal(&mut self.text, character);
        self.repeatable = true;
    }

    fn quantifier(&mut self, quantifier: &str) -> Result<(), InvalidPattern> {
        if !self.repeatable {
            return invalid("a quantifier with nothing to repeat");
        }
        let most = quantifier.split(|character: char| !character.is_ascii_digit());
        if self.flavor == Flavor::Re2
            && most
                .filter(|count| !count.is_empty())
                .any(|count| count.parse().map_or(true, |count: u32| count > MAX_REPEAT))
        {
            return invalid("a repetition count above 1000");
        }
        self.unlimited |= quantifier != "?" && !quantifier.ends_with('}');
        self.unlimited |= quantifier.ends_with(",}");
        self.text.push_str(quantifier);
        if self.source.next_if_eq(&'?').is_some() {
            self.text.push('?');
        }
        self.repeatable = false;
        Ok(())
    }

    /// Reads `n}`, `n,}` or `n,m}` after a brace; anything else is literal.
    fn counts(&mut self) -> Option<String> {
        let mut ahead = self.source.clone();
        let mut inside = String::new();
        loop {
            match ahead.next()? {
                '}' => break,
                character @ ('0'..='9' | ',') => inside.push(character),
                _ => return None,
            }
        }
        let mut bounds = inside.split(',');
        let counted = bounds.next().is_some_and(|least| !least.is_empty());
        if !counted || bounds.count() > 1 {
            return None;
        }
        self.source = ahead;
        Some(format!("{{{inside}}}"))
    }

    fn group(&mut self) -> Result<(), InvalidPattern> {
        self.repeatable = false;
        if self.source.next_if_eq(&'?').is_none() {
            self.groups += 1;
            self.text.push('(');
            return Ok(());
        }
        let rest: String = self.source.clone().take(3).collect();
        let javascript = self.flavor == Flavor::JavaScript;
        let prefix = if rest.starts_with(':') {
            ":"
        } else if rest.starts_with("P<") && !javascript {
            "P<"
        } else if rest.starts_with("<=") || rest.starts_with("<!") {
            self.look_around()?;
            &rest[..2]
        } else if rest.starts_with('=') || rest.starts_with('!') {
            self.look_around()?;
            &rest[..1]
        } else if rest.starts_with('<') {
            "<"
        } else if !javascript && rest.starts_with(['i', 'm', 's', 'U', '-']) {
            return self.flags();
        } else {
            return invalid("an unknown kind of group");
        };
        self.text.push_str("(?");
        self.text.push_str(prefix);
        for _ in prefix.chars() {
            self.source.next();
        }
        if matches!(prefix, "<" | "P<") {
            self.groups += 1;
            self.name()?;
        }
        Ok(())
    }

    fn look_around(&mut self) -> Result<(), InvalidPattern> {
        if self.flavor == Flavor::Re2 {
            return invalid("look-around is not supported");
        }
        self.backtracks = true;
        Ok(())
    }

    /// Copies a group's or a reference's name with its `>`.
    fn name(&mut self) -> Result<(), InvalidPattern> {
        for (index, character) in self.source.by_ref().enumerate() {
            self.text.push(character);
            if character == '>' && index > 0 {
                return Ok(());
            }
            if !(character.is_alphanumeric() || character == '_') {
                break;
            }
        }
        invalid("a group's name is not closed")
    }

    /// Copies RE2's inline flags: `(?i)` or `(?i:`.
    fn flags(&mut self) -> Result<(), InvalidPattern> {
        self.text.push_str("(?");
        for character in self.source.by_ref() {
            self.text.push(character);
            match character {
                'i' | 'm' | 's' | 'U' | '-' => {}
                ')' | ':' => return Ok(()),
                _ => break,
            }
        }
        invalid("an unknown flag of a group")
    }

    fn escape(&mut self) -> Result<(), InvalidPattern> {
        let Some(character) = self.source.next() else {
            return invalid("a backslash at the end");
        };
        match (character, self.flavor) {
            ('b' | 'B', _) => {
                self.word_boundary(character == 'b');
                self.repeatable = self.flavor == Flavor::Re2;
                return Ok(());
            }
            ('A' | 'z', Flavor::Re2) => {
                self.text.push('\\');
                self.text.push(character);
            }
            ('Q', Flavor::Re2) => {
                self.quoted();
                return Ok(());
            }
            ('1'..='9', Flavor::JavaScript) => self.reference(character),
            ('k', Flavor::JavaScript) if self.source.next_if_eq(&'<').is_some() => {
                self.text.push_str(r"\k<");
                self.name()?;
                self.backtracks = true;
            }
            _ => match self.class_escape(character)? {
                ClassEscape::Set { inside, negated } => {
                    let not = if negated { "^" } else { "" };
                    write!(self.text, "[{not}{inside}]").unwrap_or(());
                }
                ClassEscape::Verbatim(escape) => self.text.push_str(&escape),
                ClassEscape::Character(character) => push_literal(&mut self.text, character),
            },
        }
        self.repeatable = true;
        Ok(())
    }

    /// ASCII word boundaries.
    fn word_boundary(&mut self, at: bool) {
        const AT: &str = "(?:(?<![0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<=[0-9A-Za-z_])(?![0-9A-Za-z_]))";
        const NOT_AT: &str =
            "(?:(?<![0-9A-Za-z_])(?![0-9A-Za-z_])|(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_]))";
        let javascript = self.flavor == Flavor::JavaScript;
        match (at, self.spell_out) {
            (true, false) => self.text.push_str(r"(?-u:\b)"),
            (true, true) => self.text.push_str(AT),
            (false, _) if javascript => {
                // The linear engine has no ASCII spelling of this one on text.
                self.backtracks = true;
                self.text.push_str(NOT_AT);
            }
            (false, _) => self.text.push_str(r"\B"),
        }
    }

    /// Copies what stands between `\Q` and `\E` literally.
    fn quoted(&mut self) {
        while let Some(character) = self.source.next() {
            if character == '\\' && self.source.next_if_eq(&'E').is_some() {
                return;
            }
            self.literal(character);
        }
    }

    /// Copies a numbered back-reference.
    fn reference(&mut self, first: char) {
        let mut number = first.to_digit(10).unwrap_or_default() as usize;
        let mut digits = String::from(first);
        while let Some(digit) = self.source.next_if(char::is_ascii_digit) {
            digits.push(digit);
            number = number
                .saturating_mul(10)
                .saturating_add(digit.to_digit(10).unwrap_or_default() as usize);
        }
        self.highest_reference = self.highest_reference.max(number);
        self.backtracks = true;
        write!(self.text, r"(?:\{digits})").unwrap_or(());
    }

    /// Reads an escape that may stand inside and outside a class.
    fn class_escape(&mut self, character: char) -> Result<ClassEscape, InvalidPattern> {
        let space = match self.flavor {
            Flavor::Re2 => RE2_SPACE,
            Flavor::JavaScript => SPACE,
        };
        let set = |inside, negated| Ok(ClassEscape::Set { inside, negated });
        let one = |character| Ok(ClassEscape::Character(character));
        match (character, self.flavor) {
            ('d', _) => set(DIGIT, false),
            ('D', _) => set(DIGIT, true),
            ('w', _) => set(WORD, false),
            ('W', _) => set(WORD, true),
            ('s', _) => set(space, false),
            ('S', _) => set(space, true),
            ('t', _) => one('\t'),
            ('n', _) => one('\n'),
            ('r', _) => one('\r'),
            ('f', _) => one('\u{c}'),
            ('v', _) => one('\u{b}'),
            ('a', Flavor::Re2) => one('\u{7}'),
            ('0', _) => one('\0'),
            ('x', _) => self.hexadecimal(2).map_or_else(
                || {
                    if self.flavor == Flavor::Re2 {
                        self.braced_hexadecimal()
                    } else {
                        one('x')
                    }
                },
                |code| character_of(code).map(ClassEscape::Character),
            ),
            ('u', _) => match self.hexadecimal(4) {
                Some(code) => self.utf16(code).map(ClassEscape::Character),
                None if self.flavor == Flavor::Re2 => self.braced_hexadecimal(),
                None => one('u'),
            },
            ('c', _) if self.source.peek().is_some_and(char::is_ascii_alphabetic) => {
                let letter = self.source.next().unwrap_or('@');
                character_of(u32::from(letter) % 32).map(ClassEscape::Character)
            }
            ('p' | 'P', Flavor::Re2) => self.unicode_class(character),
            (letter, Flavor::Re2) if letter.is_ascii_alphanumeric() => {
                invalid(&format!("an unknown escape \\{letter}"))
            }
            // JavaScript reads an escape that means nothing as the character.
            (other, _) => one(other),
        }
    }

    /// Copies RE2's `\pL` or `\p{Greek}`.
    fn unicode_class(&mut self, letter: char) -> Result<ClassEscape, InvalidPattern> {
        let mut escape = format!("\\{letter}");
        match self.source.next() {
            Some('{') => {
                escape.push('{');
                for character in self.source.by_ref() {
                    escape.push(character);
                    if character == '}' {
                        return Ok(ClassEscape::Verbatim(escape));
                    }
                }
                invalid("a class name is not closed")
            }
            Some(name) => {
                escape.push(name);
                Ok(ClassEscape::Verbatim(escape))
            }
            None => invalid("a class name is missing"),
        }
    }

    /// Reads exactly `digits` hexadecimal digits, or nothing.
    fn hexadecimal(&mut self, digits: usize) -> Option<u32> {
        let text: String = self.source.clone().take(digits).collect();
        if text.len() != digits || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        for _ in 0..digits {
            self.source.next();
        }
        u32::from_str_radix(&text, 16).ok()
    }

    fn braced_hexadecimal(&mut self) -> Result<ClassEscape, InvalidPattern> {
        if self.source.next_if_eq(&'{').is_some() {
            let mut text = String::new();
            for character in self.source.by_ref() {
                if character == '}' {
                    let code = u32::from_str_radix(&text, 16).unwrap_or(u32::MAX);
                    return character_of(code).map(ClassEscape::Character);
                }
                text.push(character);
            }
        }
        invalid("an unfinished hexadecimal escape")
    }

    /// Joins a surrogate pair that is written as two escapes.
    fn utf16(&mut self, first: u32) -> Result<char, InvalidPattern> {
        if (0xd800..0xdc00).contains(&first) {
            let mut ahead = self.source.clone();
            if ahead.next() == Some('\\') && ahead.next() == Some('u') {
                self.source = ahead;
                if let Some(second) = self.hexadecimal(4)
                    && (0xdc00..0xe000).contains(&second)
                {
                    return character_of(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00));
                }
            }
            return invalid("half of a surrogate pair");
        }
        character_of(first)
    }

    fn class(&mut self) -> Result<(), InvalidPattern> {
        let negated = self.source.next_if_eq(&'^').is_some();
        self.text.push_str(if negated { "[^" } else { "[" });
        let first_bracket_is_literal = self.flavor == Flavor::Re2;
        let mut first = true;
        // A range needs a single character before its hyphen.
        let mut range_from: Option<char> = None;
        loop {
            let Some(character) = self.source.next() else {
                return invalid("a class is not closed");
            };
            if character == ']' && !(first && first_bracket_is_literal) {
                break;
            }
            let item = match character {
                '[' if self.flavor == Flavor::Re2 && self.source.peek() == Some(&':') => {
                    ClassEscape::Verbatim(self.posix_class())
                }
                '\\' => {
                    let Some(escaped) = self.source.next() else {
                        return invalid("a backslash at the end");
                    };
                    if escaped == 'b' && self.flavor == Flavor::JavaScript {
                        ClassEscape::Character('\u{8}')
                    } else {
                        self.class_escape(escaped)?
                    }
                }
                other => ClassEscape::Character(other),
            };
            first = false;
            match (item, range_from.take()) {
                (ClassEscape::Character(to), Some(from)) => {
                    if from > to {
                        return invalid("a range is out of order");
                    }
                    push_literal(&mut self.text, from);
                    self.text.push('-');
                    push_literal(&mut self.text, to);
                }
                (item, from) => {
                    if let Some(from) = from {
                        push_literal(&mut self.text, from);
                        self.text.push_str(r"\-");
                    }
                    match item {
                        ClassEscape::Character(character) => {
                            if self.begins_range() {
                                self.source.next();
                                range_from = Some(character);
                            } else {
                                push_literal(&mut self.text, character);
                            }
                        }
                        ClassEscape::Set { inside, negated } => {
                            let not = if negated { "^" } else { "" };
                            write!(self.text, "[{not}{inside}]").unwrap_or(());
                        }
                        ClassEscape::Verbatim(escape) => self.text.push_str(&escape),
                    }
                }
            }
        }
        if first {
            // JavaScript: nothing, or everything.
            self.text.push_str(r"[^\x{0}-\x{10ffff}]");
        }
        self.text.push(']');
        Ok(())
    }

    /// Returns whether a hyphen with a right end follows.
    fn begins_range(&self) -> bool {
        let mut ahead = self.source.clone();
        ahead.next() == Some('-') && ahead.next().is_some_and(|end| end != ']')
    }

    /// Copies `[:digit:]` after its bracket.
    fn posix_class(&mut self) -> String {
        let mut class = String::from("[");
        for character in self.source.by_ref() {
            class.push(character);
            if character == ']' {
                break;
            }
        }
        class
    }
}

/// What an escape stands for.
enum ClassEscape {
    /// A set of characters, as the inside of a class.
    Set { inside: &'static str, negated: bool },
    /// Our engines spell it alike.
    Verbatim(String),
    /// One character.
    Character(char),
}

fn character_of(code: u32) -> Result<char, InvalidPattern> {
    char::from_u32(code).map_or_else(|| invalid("an escape of no character"), Ok)
}

fn invalid<T>(what: &str) -> Result<T, InvalidPattern> {
    Err(InvalidPattern(what.to_owned()))
}

fn push_literal(text: &mut String, character: char) {
    if character.is_control() {
        write!(text, r"\x{{{:x}}}", u32::from(character)).unwrap_or(());
    } else {
        text.push_str(&regex::escape(character.encode_utf8(&mut [0; 4])));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn searches(pattern: &str, text: &str) -> bool {
        Search::compile(pattern)
            .unwrap_or_else(|error| panic!("{pattern}: {error}"))
            .is_match(text)
            .expect("within the step limit")
    }

    fn matches(pattern: &str, text: &str) -> bool {
        linear(pattern, "")
            .unwrap_or_else(|error| panic!("{pattern}: {error}"))
            .is_match(text)
    }

    #[test]
    fn javascript_spellings_mean_what_they_mean_there() {
        for (pattern, text) in [
            (r"\u0041da\/\x41", "Ada/A"),
            (r"\uD83D\uDEA2", "🚢"),
            (r"(?<n>late)", "late"),
            (r"[[]", "["),
            (r"[a&&b~~c-]+$", "a&~-c"),
            (r"[\]-]", "-"),
            (r"a{,2}", "a{,2}"),
            (r"x{", "x{"),
            (r"\<b\>", "<b>"),
            (r"[^]", "\n"),
            (r"\_\-\@", "_-@"),
            (r"^[\s\S]*ORD$", "a\nb ORD"),
            (r"\s", "\u{feff}"),
            (r"\bORD\b", "éORDé"),
            (r"(o)\1", "foo"),
            (r"(?<=EUR )\b12\b", "EUR 12"),
            (r"(?!Done)^.", "Open"),
            (r"a\Bb", "ab"),
            (r"[\b]", "\u{8}"),
            (r"\ca", "\u{1}"),
        ] {
            assert!(searches(pattern, text), "{pattern} in {text}");
        }
        for (pattern, text) in [
            (r"a.b", "a\u{2028}b"),
            (r"[]", "a"),
            (r"\d", "٣"),
            (r"\w", "é"),
            (r"^b", "a\nb"),
            (r"a$", "a\n"),
            (r"(?<!EUR )12", "EUR 12"),
            (r"\s", "\u{85}"),
        ] {
            assert!(!searches(pattern, text), "{pattern} in {text}");
        }
    }

    #[test]
    fn patterns_that_mean_nothing_are_refused() {
        for pattern in [
            "(", ")", "*a", "a**", "a{2,1}", "[z-a]", "[", "a\\", "(?i)a", "(?P<n>a)", "a{2}{3}",
            "|*", "(?<n", r"\1", "^*", r"\ud83d",
        ] {
            assert!(Search::compile(pattern).is_err(), "{pattern}");
        }
        for pattern in [
            "(?<=a)b", "(?!a)", r"(a)\1", r"\e", "a**", "a{1001}", "(?x)a", "[z-a]", r"\pX", "(?",
        ] {
            assert!(linear(pattern, "").is_err(), "{pattern}");
        }
    }

    #[test]
    fn re2_syntax_is_read_with_its_own_classes() {
        for (pattern, text) in [
            (r"[[:digit:]]{2}", "12"),
            (r"(?i)ada", "ADA"),
            (r"(?P<n>a)(?-i:b)", "ab"),
            (r"\Q.*\E", ".*"),
            (r"[]a]", "]"),
            (r"\pL\p{Greek}", "aλ"),
            (r"\x{1F6A2}", "🚢"),
            (r"\Aa\z", "a"),
            (r"^\{.*\}$", "{}"),
        ] {
            assert!(matches(pattern, text), "{pattern} in {text}");
        }
        assert!(!matches(r"\s", "\u{a0}"));
        assert!(linear("a.*t$", "ims").expect("compiles").is_match("A\nT\n"));
        assert!(!linear("a.*t", "").expect("compiles").is_match("a\nt"));
    }

    #[test]
    fn backtracking_stops_after_its_steps() {
        let search = Search::compile(r"^(?:(?=a)a*)*b").expect("compiles");
        assert_eq!(search.is_match(&"a".repeat(2_000)), Err(StepLimit));
        let search = Search::compile(r"(?=a+$)b").expect("compiles");
        assert_eq!(search.is_match(&"a".repeat(200)), Ok(false));
        assert_eq!(search.is_match(&"a".repeat(20_000)), Err(StepLimit));
        let search = Search::compile(r"(o)\1").expect("compiles");
        assert_eq!(search.is_match(&"o".repeat(100_000)), Ok(true));
    }
}
