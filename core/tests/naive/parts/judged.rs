//! What a judge of answers may pass for a type.

use super::types::{Record, Type, defined, shape};
use super::usual;
use crate::naive::etf::{Term, term};
use rustyjson_core::etf::check::check;
use rustyjson_core::etf::writer::Writer;
use rustyjson_core::parts::{Parts, Plain, Shape, judge, judge_only};
use rustyjson_core::{DecodeOptions, Scratch};

/// The judge of a type passes an honest answer, and gives its builder every part of it.
pub fn assert_passes(etf: &[u8], shape: &Shape<'_>, json: &[u8], options: &DecodeOptions) {
    let policy = Shape::exact_policy(options, json.len());
    let mut again = Writer::new(etf, Vec::new(), options);
    assert_eq!(judge(etf, shape, &policy, json, u64::MAX, &mut Plain(&mut again)), Ok(()));
    assert_eq!(again.finish().as_deref(), Some(etf));
}

/// What the judge of a type passes is of the type, and a term of which the general check has nothing to say.
pub fn assert_judged(etf: &[u8], json: &[u8], of: &Type, options: &DecodeOptions) {
    let plan = shape(of);
    let Some(Parts::Typed(shape)) = Parts::read(&plan) else { panic!("a type") };
    let policy = Shape::exact_policy(options, json.len());
    if judge_only(etf, &shape, &policy, json).is_ok() {
        let term = term(etf).expect("what passes is a term");
        assert!(is_of(of, &term, json.len()), "{term:?} is not {of:?}");
        assert_eq!(check(etf, &shape.policy(options, json.len())), Ok(()));
    }
}

/// Whether a term is the plain answer of a value of the type.
fn is_of(of: &Type, term: &Term, json_len: usize) -> bool {
    if let Some(cell) = of.cell() {
        return is_of(defined(&cell), term, json_len);
    }
    match (of, term) {
        (Type::Nullable(_), Term::Atom(name)) if name.starts_with('n') || name == "undefined" => true,
        (Type::Nullable(inner), _) => is_of(inner, term, json_len),
        (Type::Plain(0) | Type::Loaded(_), _)
        | (Type::Plain(1 | 7..=10), Term::Binary(_))
        | (Type::Plain(2 | 4), Term::Integer(..))
        | (Type::Plain(3 | 4), Term::Float(_)) => true,
        (Type::Plain(5), Term::Atom(name)) => name == "true" || name == "false",
        (Type::Plain(6), Term::List(parts)) => match &parts[..] {
            [Term::Integer(_, sign), Term::Integer(negative, _), Term::Integer(..)] => sign == "1" && !negative,
            _ => false,
        },
        (Type::Plain(11), Term::List(place)) => match &place[..] {
            [Term::Integer(false, start), Term::Integer(false, len)] => {
                let (start, len): (usize, usize) = (start.parse().unwrap(), len.parse().unwrap());
                len > 0 && start + len <= json_len
            }
            _ => false,
        },
        (Type::Checked(inner, rules), Term::List(members)) if matches!(**inner, Type::Map(_)) => {
            rules.allows(members.len() / 2) && is_of(inner, term, json_len)
        }
        (Type::Checked(inner, rules), _) => is_of(inner, term, json_len) && rules.keeps(inner.kind(), term),
        (Type::Enum(names), Term::Integer(false, number)) => {
            number.parse().is_ok_and(|number: usize| number < names.len())
        }
        (Type::List(inner) | Type::Many(inner), Term::List(elements)) => {
            elements.iter().all(|element| is_of(inner, element, json_len))
        }
        (Type::Map(inner), Term::List(members)) => {
            members.chunks(2).all(|member| matches!(member, [Term::Binary(_), value] if is_of(inner, value, json_len)))
        }
        (Type::Struct(record), Term::List(fields)) => is_record(record, fields, json_len),
        (Type::Tagged(_, variants), Term::List(parts)) => match &parts[..] {
            [Term::Integer(false, number), Term::List(fields)] => {
                let number = number.parse().unwrap_or(usize::MAX);
                variants.get(number).is_some_and(|(_, record)| is_record(record, fields, json_len))
            }
            _ => false,
        },
        _ => false,
    }
}

fn is_record(record: &Record, fields: &[Term], json_len: usize) -> bool {
    let mut seen = vec![false; record.fields.len()];
    let fit = fields.chunks(2).all(|field| {
        let [Term::Integer(false, number), value] = field else { return false };
        let number = number.parse().unwrap_or(usize::MAX);
        let Some((_, _, ignored, of)) = record.fields.get(number) else { return false };
        seen[number] = true;
        !ignored && is_of(of, value, json_len)
    });
    fit && record.fields.iter().zip(seen).all(|((_, required, ..), seen)| seen || !required)
}

/// The answer for this text, with some of its bytes changed, is judged.
pub fn assert_lies(json: &[u8], of: &Type, options: &DecodeOptions, lies: &[(usize, u8)]) {
    let (options, plan) = (usual(options), shape(of));
    let mut writer = Writer::new(json, Vec::new(), &options);
    let parts = Parts::read(&plan).expect("a type");
    if parts.decode(json, &options, 0, &mut Scratch::default(), &mut writer).is_err() {
        return;
    }
    let mut etf = writer.finish().expect("there is memory");
    for (place, byte) in lies {
        let place = place % etf.len();
        etf[place] = *byte;
    }
    assert_judged(&etf, json, of, &options);
}
