//! What the core has to answer for a text and a type.

use super::types::{Record, Type, defined, shape};
use super::{decoded, first, text_at, usual};
use crate::naive::tree::Tree;
use crate::naive::{parse, parse_exact};
use rustyjson_core::options::Duplicates;
use rustyjson_core::parts::{Moment, Reading};
use rustyjson_core::{DecodeOptions, Error, ErrorKind};

/// What the core has to answer.
#[derive(Debug)]
enum Want {
    This(Tree),
    List(Vec<Want>),
    /// The place of a text that means this.
    Text(Tree),
}

fn number(number: usize) -> Want {
    Want::This(Tree::integer(false, &number.to_string()))
}

/// The answer for a value that is of the type: in a tree with floats, and in one with decimals.
fn fit(of: &Type, value: &Tree, exact: &Tree, first: bool) -> Option<Want> {
    if let Some(cell) = of.cell() {
        return fit(defined(&cell), value, exact, first);
    }
    let this = || Some(Want::This(value.clone()));
    match (of, value) {
        (Type::Nullable(_), Tree::Null) => this(),
        (Type::Nullable(inner), _) => fit(inner, value, exact, first),
        (Type::Plain(0) | Type::Loaded(_), _) => this(),
        (Type::Plain(1), Tree::String(_)) => this(),
        (Type::Plain(kind @ 7..=10), Tree::String(text)) if Moment::judge(*kind, text) != Reading::Wrong => this(),
        (Type::Plain(2 | 4), Tree::Integer(..)) => this(),
        (Type::Plain(3), Tree::Integer(..)) => {
            // Zero has its sign only there.
            let Tree::Decimal(negative, digits, _) = exact else { return None };
            let float: f64 = format!("{}{digits}", if *negative { "-" } else { "" }).parse().ok()?;
            float.is_finite().then(|| Want::This(Tree::Float(float.to_bits())))
        }
        (Type::Plain(3 | 4), Tree::Float(_)) => this(),
        (Type::Plain(5), Tree::Boolean(_)) => this(),
        (Type::Plain(6), Tree::Integer(..) | Tree::Float(_)) => decimal(exact),
        (Type::Plain(6), Tree::String(text)) => {
            let number = text.first().is_some_and(|byte| *byte == b'-' || byte.is_ascii_digit());
            let spaces = text.last().is_some_and(u8::is_ascii_whitespace);
            if number && !spaces { decimal(&parse_exact(text, &DecodeOptions::DEFAULT).ok()?) } else { None }
        }
        (Type::Plain(11), _) => Some(Want::Text(value.clone())),
        (Type::Checked(inner, rules), _) => {
            let want = fit(inner, value, exact, first)?;
            rules.keeps_tree(inner.kind(), value, exact).then_some(want)
        }
        (Type::Enum(names), Tree::String(text)) => names.iter().position(|name| name.as_bytes() == text).map(number),
        (Type::Many(_), Tree::Null) => Some(Want::List(vec![])),
        (Type::List(inner) | Type::Many(inner), Tree::Array(elements)) => {
            let Tree::Array(exact) = exact else { return None };
            elements.iter().zip(exact).map(|(a, b)| fit(inner, a, b, first)).collect::<Option<_>>().map(Want::List)
        }
        (Type::Map(inner), Tree::Object(members)) => {
            let Tree::Object(exact) = exact else { return None };
            let mut list = Vec::new();
            for ((key, value), (_, exact)) in members.iter().zip(exact) {
                list.extend([Want::This(Tree::String(key.clone())), fit(inner, value, exact, first)?]);
            }
            Some(Want::List(list))
        }
        (Type::Struct(record), _) => fit_record(record, value, exact, first),
        (Type::Tagged(key, variants), Tree::Object(members)) => {
            let mut tags = members.iter().filter(|(name, _)| name == key.as_bytes()).map(|(_, tag)| tag);
            let Tree::String(tag) = (if first { tags.next() } else { tags.next_back() })? else { return None };
            let variant = variants.iter().position(|(name, _)| name.as_bytes() == tag)?;
            Some(Want::List(vec![number(variant), fit_record(&variants[variant].1, value, exact, first)?]))
        }
        _ => None,
    }
}

fn fit_record(record: &Record, value: &Tree, exact: &Tree, first: bool) -> Option<Want> {
    let (Tree::Object(members), Tree::Object(exact)) = (value, exact) else { return None };
    let (mut list, mut seen) = (Vec::new(), vec![false; record.fields.len()]);
    for ((key, value), (_, exact)) in members.iter().zip(exact) {
        let Some(field) = record.fields.iter().position(|(name, ..)| name.as_bytes() == key) else {
            if record.strict {
                return None;
            }
            continue;
        };
        let (_, _, ignored, of) = &record.fields[field];
        if *ignored || first && seen[field] {
            continue;
        }
        seen[field] = true;
        list.extend([number(field), fit(of, value, exact, first)?]);
    }
    let missing = record.fields.iter().zip(&seen).any(|((_, required, ..), seen)| *required && !seen);
    if missing { None } else { Some(Want::List(list)) }
}

/// Sign, coefficient and exponent.
fn decimal(exact: &Tree) -> Option<Want> {
    let Tree::Decimal(negative, digits, exponent) = exact else { return None };
    let (negative, exponent) = (*negative, *exponent);
    if digits.trim_start_matches('0').len() > 34 || exponent.abs() > 6_144 {
        return None;
    }
    let parts = [
        Tree::integer(negative, "1"),
        Tree::integer(false, digits),
        Tree::integer(exponent < 0, &exponent.unsigned_abs().to_string()),
    ];
    Some(Want::This(Tree::Array(parts.to_vec())))
}

fn same(json: &[u8], want: &Want, found: &Tree, options: &DecodeOptions) -> bool {
    match (want, found) {
        (Want::This(tree), _) => tree == found,
        (Want::Text(tree), Tree::Array(place)) => text_at(json, place, options).as_ref() == Some(tree),
        (Want::List(list), Tree::Array(found)) => {
            list.len() == found.len() && list.iter().zip(found).all(|(want, found)| same(json, want, found, options))
        }
        _ => false,
    }
}

fn of_schema(kind: ErrorKind) -> bool {
    format!("{kind:?}").starts_with("Type")
        || matches!(kind, ErrorKind::Missing | ErrorKind::UnknownKey | ErrorKind::Enum)
        // Those of constraints.
        || (ErrorKind::Min as u8..=ErrorKind::MaxItems as u8).contains(&(kind as u8))
}

fn beyond_limits(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NumberOutOfRange | ErrorKind::DecimalDigits | ErrorKind::DecimalExponent)
}

/// A value of the type gives its answer; another one gives an error of the schema; a fault gives its error, or one of the schema
/// before it.
pub fn assert_typed(json: &[u8], of: &Type, options: &DecodeOptions) {
    let options = DecodeOptions {
        ordered_objects: true,
        decimals: false,
        digit_limit: DecodeOptions::DEFAULT.digit_limit,
        ..usual(options)
    };
    let found = decoded(json, &shape(of), &options).map_err(|failed| first(&failed).expect("an error"));
    let exact = parse_exact(json, &options);
    match (parse(json, &options), exact, found) {
        (Ok(tree), Ok(exact), found) => {
            match (fit(of, &tree, &exact, options.duplicates == Duplicates::First), found) {
                (Some(want), Ok(found)) => assert!(same(json, &want, &found, &options), "{found:?}, not {want:?}"),
                (Some(want), Err(error)) => panic!("{error:?} instead of {want:?}"),
                (None, Ok(found)) => panic!("{found:?} is not of the type"),
                (None, Err(error)) => {
                    assert!(of_schema(error.kind) || beyond_limits(error.kind), "{error:?}");
                }
            }
        }
        (Err(error), Err(exact), found) => assert_before(found.expect_err("the text is wrong"), [error, exact]),
        // A number that only one of floats and decimals can hold.
        _ => {}
    }
}

/// The type says which of the errors it is: that of a reader of floats, or of decimals. Where the text is walked over before its numbers are
/// judged, it is a fault behind one that is too large.
fn assert_before(found: Error, errors: [Error; 2]) {
    let last = errors.map(|error| error.offset).into_iter().max();
    let before = (of_schema(found.kind) || beyond_limits(found.kind)) && Some(found.offset) <= last;
    let behind = errors.iter().all(|error| error.kind.is_limit_of_numbers() && error.offset < found.offset);
    assert!(errors.contains(&found) || before || behind, "{found:?}, not {errors:?}");
}
