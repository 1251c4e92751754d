//! Reading rules that every document shares: `null` is absent, text is
//! borrowed, and what no rule reads is skipped without being kept.

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

use crate::words::Vocabulary;

/// Visitor methods that read any value of another type as absent.
macro_rules! absent_otherwise {
    ($value:ty) => {
        fn visit_unit<E: de::Error>(self) -> Result<$value, E> {
            Ok(None)
        }

        fn visit_bool<E: de::Error>(self, _: bool) -> Result<$value, E> {
            Ok(None)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<$value, A::Error> {
            while items.next_element::<IgnoredAny>()?.is_some() {}
            Ok(None)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<$value, A::Error> {
            while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(None)
        }
    };
}

/// Reads `null` as the default value; use with `#[serde(default)]`.
///
/// # Errors
///
/// Fails as the value itself does.
pub fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads a string, borrowed where the JSON has no escapes; any other value,
/// `null` included, is absent.
///
/// # Errors
///
/// Fails only on malformed JSON.
pub fn text<'de: 'a, 'a, D>(deserializer: D) -> Result<Option<Cow<'a, str>>, D::Error>
where
    D: Deserializer<'de>,
{
    deserializer.deserialize_any(TextOrAbsent(PhantomData))
}

/// Reads an array of strings and drops every item that is not a string.
///
/// # Errors
///
/// Refuses anything but an array or `null`.
pub fn texts<'de: 'a, 'a, D>(deserializer: D) -> Result<Vec<Cow<'a, str>>, D::Error>
where
    D: Deserializer<'de>,
{
    struct Texts<'a>(PhantomData<&'a str>);

    impl<'de: 'a, 'a> Visitor<'de> for Texts<'a> {
        type Value = Vec<Cow<'a, str>>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("an array of strings")
        }

        fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
            Ok(Vec::new())
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
            let mut texts = Vec::new();
            while let Some(item) = items.next_element_seed(TextOrAbsent(PhantomData))? {
                texts.extend(item);
            }
            Ok(texts)
        }
    }

    deserializer.deserialize_any(Texts(PhantomData))
}

/// Reads whether an array has any item; the items themselves are skipped.
///
/// # Errors
///
/// Refuses anything but an array or `null`.
pub fn non_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    let items = Option::<Vec<IgnoredAny>>::deserialize(deserializer)?;
    Ok(items.is_some_and(|items| !items.is_empty()))
}

/// Reads whether an array is there and has no item.
///
/// # Errors
///
/// Refuses anything but an array or `null`.
pub fn is_empty_list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    let items = Option::<Vec<IgnoredAny>>::deserialize(deserializer)?;
    Ok(items.is_some_and(|items| items.is_empty()))
}

/// Reads a word of an open vocabulary: one that is not in ours is absent.
///
/// # Errors
///
/// Refuses anything but a string or `null`.
pub fn known_word<'de, D, V>(deserializer: D) -> Result<Option<V>, D::Error>
where
    D: Deserializer<'de>,
    V: Vocabulary,
{
    struct Word<V>(PhantomData<V>);

    impl<V: Vocabulary> Visitor<'_> for Word<V> {
        type Value = Option<V>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a string")
        }

        fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_str<E: de::Error>(self, word: &str) -> Result<Self::Value, E> {
            Ok(V::from_wire(word))
        }
    }

    deserializer.deserialize_any(Word(PhantomData))
}

/// Reads a whole number, also when it is written `2.0`; a value that is no
/// number at all is absent, a number that is not whole is refused.
///
/// # Errors
///
/// Refuses a number with a fraction, or out of range.
pub fn whole_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    struct Whole;

    impl<'de> Visitor<'de> for Whole {
        type Value = Option<i64>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a whole number")
        }

        fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
            Ok(Some(number))
        }

        fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
            i64::try_from(number)
                .map(Some)
                .map_err(|_| E::invalid_value(de::Unexpected::Unsigned(number), &self))
        }

        fn visit_f64<E: de::Error>(self, number: f64) -> Result<Self::Value, E> {
            /// Past this a double no longer holds every whole number.
            const LIMIT: f64 = 9_007_199_254_740_992.0;
            if number.fract() == 0.0 && number.abs() <= LIMIT {
                #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
                return Ok(Some(number as i64));
            }
            Err(E::invalid_value(de::Unexpected::Float(number), &self))
        }

        absent_otherwise!(Option<i64>);

        fn visit_str<E: de::Error>(self, _: &str) -> Result<Self::Value, E> {
            Ok(None)
        }
    }

    deserializer.deserialize_any(Whole)
}

/// Reads a number; any other value, `null` included, is absent.
///
/// # Errors
///
/// Fails only on malformed JSON.
pub fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    struct Number;

    impl<'de> Visitor<'de> for Number {
        type Value = Option<f64>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a number")
        }

        #[expect(clippy::cast_precision_loss, reason = "JSON numbers are doubles")]
        fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
            Ok(Some(number as f64))
        }

        #[expect(clippy::cast_precision_loss, reason = "JSON numbers are doubles")]
        fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
            Ok(Some(number as f64))
        }

        fn visit_f64<E: de::Error>(self, number: f64) -> Result<Self::Value, E> {
            Ok(Some(number))
        }

        absent_otherwise!(Option<f64>);

        fn visit_str<E: de::Error>(self, _: &str) -> Result<Self::Value, E> {
            Ok(None)
        }
    }

    deserializer.deserialize_any(Number)
}

/// A string, borrowed where it can be; anything else is absent.
struct TextOrAbsent<'a>(PhantomData<&'a str>);

impl<'de: 'a, 'a> DeserializeSeed<'de> for TextOrAbsent<'a> {
    type Value = Option<Cow<'a, str>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de: 'a, 'a> Visitor<'de> for TextOrAbsent<'a> {
    type Value = Option<Cow<'a, str>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string")
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Borrowed(text)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(text.to_owned())))
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    absent_otherwise!(Self::Value);
}
