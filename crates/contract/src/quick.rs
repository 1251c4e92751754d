//! Quick reading of JSON text, for documents read by the hundred thousand.
//!
//! A [`Cursor`] goes over text once and builds a document in place. It knows
//! only what documents usually hold: on anything else (a wrong type, a key
//! that is there twice, an unknown word, a key with escapes, malformed text)
//! it gives `None`, and the caller reads the text again with `serde_json`,
//! which accepts or refuses it and says why. What a cursor accepts is what
//! `serde_json` accepts, and gives the same document; tests hold the two
//! against each other.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use crate::words::Vocabulary;

/// Nesting of skipped values that is still read here.
const MAX_DEPTH: u32 = 64;

/// A document that a cursor can read.
pub trait QuickRead<'a>: Sized {
    /// Reads one value; `None` leaves it to `serde_json`.
    fn quick_read(cursor: &mut Cursor<'a>) -> Option<Self>;
}

/// Reads `{"id", "input"}` and gives the id's text with the input; `None`
/// leaves the line to `serde_json`.
#[must_use]
pub fn read_envelope<'a, T: QuickRead<'a>>(line: &'a str) -> Option<(Option<&'a str>, T)> {
    let mut cursor = Cursor { text: line, at: 0 };
    let (mut id, mut input) = (None, None);
    let more = cursor.begin_object()?;
    cursor.members(more, |cursor, key| match key {
        "id" => once(&mut id, cursor.raw()?),
        "input" => once(&mut input, T::quick_read(cursor)?),
        _ => cursor.skip(),
    })?;
    cursor.end()?;
    Some((id, input?))
}

/// Reads a whole text as one value; `None` leaves it to `serde_json`.
#[must_use]
pub fn read_text<'a, T: QuickRead<'a>>(text: &'a str) -> Option<T> {
    let mut cursor = Cursor { text, at: 0 };
    let value = T::quick_read(&mut cursor)?;
    cursor.end()?;
    Some(value)
}

/// Fills a field that must not have been filled before.
pub(crate) fn once<T>(field: &mut Option<T>, value: T) -> Option<()> {
    match field.replace(value) {
        None => Some(()),
        Some(_) => None,
    }
}

/// A place in JSON text.
#[derive(Debug)]
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Goes past the beginning of an object; returns whether it has members.
    pub(crate) fn begin_object(&mut self) -> Option<bool> {
        self.eat(b'{')?;
        if self.next() == b'}' {
            self.at += 1;
            return Some(false);
        }
        Some(true)
    }

    /// Goes past a key and its colon if just they come; `key` is written
    /// `"key":`.
    #[inline(always)]
    pub(crate) fn at_key(&mut self, key: &'static str) -> bool {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let here = rest.starts_with(key.as_bytes());
        if here {
            self.at += key.len();
        }
        here
    }

    /// Goes past what follows a member; returns whether another comes.
    #[inline]
    pub(crate) fn another_member(&mut self) -> Option<bool> {
        let more = self.another(b'}')?;
        if more {
            self.next();
        }
        Some(more)
    }

    /// Reads the members that are left; the closure reads or skips the value.
    pub(crate) fn members(
        &mut self,
        mut more: bool,
        mut member: impl FnMut(&mut Self, &'a str) -> Option<()>,
    ) -> Option<()> {
        while more {
            let key = self.plain_text()?;
            self.eat(b':')?;
            member(self, key)?;
            more = self.another_member()?;
        }
        Some(())
    }

    /// Reads an array, item by item.
    fn array(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.eat(b'[')?;
        if self.next() == b']' {
            self.at += 1;
            return Some(());
        }
        loop {
            item(self)?;
            if self.another(b']')? {
                continue;
            }
            return Some(());
        }
    }

    /// Reads a list; `null` is an empty one.
    pub(crate) fn list<T>(&mut self, read: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::new();
        if !self.null()? {
            self.array(|cursor| {
                items.push(read(cursor)?);
                Some(())
            })?;
        }
        Some(items)
    }

    /// Reads a list of strings; `null` is an empty one.
    pub(crate) fn texts(&mut self) -> Option<Vec<Cow<'a, str>>> {
        self.list(Self::string)
    }

    /// Reads whether a list has any item; `null` is an empty one.
    pub(crate) fn non_empty(&mut self) -> Option<bool> {
        let mut any = false;
        if !self.null()? {
            self.array(|cursor| {
                any = true;
                cursor.skip()
            })?;
        }
        Some(any)
    }

    /// Reads a value, or `null` as none.
    pub(crate) fn optional<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<Option<T>> {
        if self.null()? {
            return Some(None);
        }
        read(self).map(Some)
    }

    /// Reads a value, or `null` as its default.
    pub(crate) fn or_default<T: Default>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        Some(self.optional(read)?.unwrap_or_default())
    }

    pub(crate) fn boolean(&mut self) -> Option<bool> {
        match self.next() {
            b't' => self.literal("true").map(|()| true),
            _ => self.literal("false").map(|()| false),
        }
    }

    /// Reads a word of a closed vocabulary.
    pub(crate) fn word<V: Vocabulary>(&mut self) -> Option<V> {
        V::from_wire(self.plain_text()?)
    }

    /// Reads a word of an open vocabulary; one that is not in ours is none.
    pub(crate) fn known_word<V: Vocabulary>(&mut self) -> Option<Option<V>> {
        Some(self.optional(Self::plain_text)?.and_then(V::from_wire))
    }

    pub(crate) fn string(&mut self) -> Option<Cow<'a, str>> {
        let start = self.start_of_text()?;
        let escaped = self.end_of_text()?;
        if !escaped {
            return Some(Cow::Borrowed(&self.text[start + 1..self.at - 1]));
        }
        let text = serde_json::from_str::<String>(&self.text[start..self.at]);
        text.ok().map(Cow::Owned)
    }

    /// Reads a string without escapes.
    pub(crate) fn plain_text(&mut self) -> Option<&'a str> {
        let start = self.start_of_text()?;
        let escaped = self.end_of_text()?;
        (!escaped).then(|| &self.text[start + 1..self.at - 1])
    }

    /// Reads a finite number.
    pub(crate) fn number(&mut self) -> Option<f64> {
        let digits = self.digits_of_number()?;
        if let Some(integer) = small_integer(digits) {
            #[expect(clippy::cast_precision_loss, reason = "at most 15 digits")]
            return Some(integer as f64);
        }
        digits
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
    }

    /// Reads an integer of at most 15 digits, written without fraction.
    pub(crate) fn integer(&mut self) -> Option<i64> {
        small_integer(self.digits_of_number()?)
    }

    /// Skips a value, whatever it is.
    pub(crate) fn skip(&mut self) -> Option<()> {
        self.skip_nested(0)
    }

    fn skip_nested(&mut self, depth: u32) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self.next() {
            b'"' => self.skip_text(),
            b'{' => {
                self.at += 1;
                if self.next() == b'}' {
                    self.at += 1;
                    return Some(());
                }
                loop {
                    self.skip_text()?;
                    self.eat(b':')?;
                    self.skip_nested(depth + 1)?;
                    if !self.another(b'}')? {
                        return Some(());
                    }
                }
            }
            b'[' => self.array(|cursor| cursor.skip_nested(depth + 1)),
            b't' => self.literal("true"),
            b'f' => self.literal("false"),
            b'n' => self.literal("null"),
            _ => self.digits_of_number().map(|_| ()),
        }
    }

    /// Skips a value and gives its text.
    fn raw(&mut self) -> Option<&'a str> {
        self.next();
        let start = self.at;
        self.skip()?;
        Some(&self.text[start..self.at])
    }

    fn skip_text(&mut self) -> Option<()> {
        let start = self.start_of_text()?;
        if self.end_of_text()? {
            // Whether the escapes are right is `serde_json`'s to say.
            serde_json::from_str::<IgnoredAny>(&self.text[start..self.at]).ok()?;
        }
        Some(())
    }

    /// Goes past white space and an opening quote, and gives the quote's place.
    fn start_of_text(&mut self) -> Option<usize> {
        self.eat(b'"')?;
        Some(self.at - 1)
    }

    /// Goes past the closing quote; returns whether there were escapes.
    fn end_of_text(&mut self) -> Option<bool> {
        let bytes = self.text.as_bytes();
        let mut escaped = false;
        loop {
            // Eight bytes at a time up to one that is not plain.
            while let Some(eight) = bytes.get(self.at..).and_then(<[u8]>::first_chunk::<8>) {
                let marks = not_plain(u64::from_le_bytes(*eight));
                if marks != 0 {
                    self.at += marks.trailing_zeros() as usize / 8;
                    break;
                }
                self.at += 8;
            }
            match *bytes.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return Some(escaped);
                }
                b'\\' => {
                    escaped = true;
                    self.at += 2;
                }
                control if control < b' ' => return None,
                _ => self.at += 1,
            }
        }
    }

    /// Goes past a number as JSON writes it, and gives its text.
    fn digits_of_number(&mut self) -> Option<&'a str> {
        self.next();
        let start = self.at;
        if self.peek() == b'-' {
            self.at += 1;
        }
        match self.peek() {
            b'0' => self.at += 1,
            b'1'..=b'9' => self.skip_digits(),
            _ => return None,
        }
        if self.peek() == b'.' {
            self.at += 1;
            self.some_digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.at += 1;
            }
            self.some_digits()?;
        }
        Some(&self.text[start..self.at])
    }

    fn some_digits(&mut self) -> Option<()> {
        let start = self.at;
        self.skip_digits();
        (self.at > start).then_some(())
    }

    fn skip_digits(&mut self) {
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
    }

    /// Goes past `null` if that is what comes.
    fn null(&mut self) -> Option<bool> {
        if self.next() != b'n' {
            return Some(false);
        }
        self.literal("null").map(|()| true)
    }

    fn literal(&mut self, word: &str) -> Option<()> {
        let rest = self.text.as_bytes().get(self.at..)?;
        rest.starts_with(word.as_bytes()).then(|| {
            self.at += word.len();
        })
    }

    /// Goes past a comma, or past the closing mark; returns whether another
    /// item follows.
    fn another(&mut self, close: u8) -> Option<bool> {
        let mark = self.next();
        self.at += 1;
        match mark {
            b',' => Some(true),
            _ if mark == close => Some(false),
            _ => None,
        }
    }

    fn eat(&mut self, mark: u8) -> Option<()> {
        if self.next() != mark {
            return None;
        }
        self.at += 1;
        Some(())
    }

    fn end(&mut self) -> Option<()> {
        self.next();
        (self.at == self.text.len()).then_some(())
    }

    /// Goes past white space and gives the byte that comes; 0 at the end.
    fn next(&mut self) -> u8 {
        loop {
            match self.peek() {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return byte,
            }
        }
    }

    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }
}

/// Marks the high bit of the first byte that ends plain text: a quote, a
/// backslash or a control character. Later marks may be wrong.
const fn not_plain(eight: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    const fn zero(eight: u64) -> u64 {
        eight.wrapping_sub(ONES) & !eight
    }
    let quote = zero(eight ^ (ONES * b'"' as u64));
    let backslash = zero(eight ^ (ONES * b'\\' as u64));
    let control = eight.wrapping_sub(ONES * b' ' as u64) & !eight;
    (quote | backslash | control) & HIGH
}

/// Reads an integer of at most 15 digits; `-0` is none.
fn small_integer(text: &str) -> Option<i64> {
    const MOST_DIGITS: usize = 15;
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.len() > MOST_DIGITS || text == "-0" {
        return None;
    }
    let mut integer = 0_i64;
    for digit in digits.bytes() {
        if !digit.is_ascii_digit() {
            return None;
        }
        integer = integer * 10 + i64::from(digit - b'0');
    }
    Some(if digits.len() < text.len() {
        -integer
    } else {
        integer
    })
}

/// Makes a document readable by a cursor: `field: "key" = read;`, with
/// `required` where an absent key is no default.
///
/// Members mostly come in the order of the fields, without white space: a first
/// pass asks for just that, and a second reads what is left, whatever it is.
macro_rules! quick_object {
    ( $name:ident $(<$life:lifetime>)? {
        $( $field:ident: $key:literal = $read:expr $(, $required:ident)?; )+
    } ) => {
        impl<'a> $crate::quick::QuickRead<'a> for $name $(<$life>)? {
            fn quick_read(cursor: &mut $crate::quick::Cursor<'a>) -> Option<Self> {
                $( let mut $field = None; )+
                let mut more = cursor.begin_object()?;
                $( if more && cursor.at_key(concat!("\"", $key, "\":")) {
                    $field = Some($read(cursor)?);
                    more = cursor.another_member()?;
                } )+
                cursor.members(more, |cursor, key| match key {
                    $( $key => $crate::quick::once(&mut $field, $read(cursor)?), )+
                    _ => cursor.skip(),
                })?;
                Some(Self { $(
                    $field: match $field {
                        Some(value) => value,
                        None => quick_object!(@absent $($required)?),
                    },
                )+ })
            }
        }
    };
    (@absent required) => { return None };
    (@absent) => { Default::default() };
}
pub(crate) use quick_object;
