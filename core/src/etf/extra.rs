//! The second term that encode takes through ETF: `{pretty, plans}`.

use super::head::atom_at;
use super::reader::{PlannedStruct, Reader, Term};
use crate::encode::{Pretty, TermReader, Value};
use alloc::vec::Vec;

/// What goes along with a term besides integers.
#[derive(Clone, Debug, Default)]
pub struct Extra<'t> {
    /// `nil` or `{indent, line_separator, after_colon}`.
    pub pretty: Option<Pretty<'t>>,
    /// `nil` or `%{module => {field, ...}}`.
    pub plans: Vec<PlannedStruct<'t>>,
}

impl<'t> Extra<'t> {
    /// Reads it; no bytes stand for nothing. `None`: it is not of this form.
    pub fn parse(bytes: &'t [u8]) -> Option<Self> {
        if bytes.is_empty() {
            return Some(Self::default());
        }
        let mut reader = Reader::new(bytes, &[]);
        let root = reader.root()?;
        let [pretty, plans] = elements(&mut reader, root)?;
        Some(Self { pretty: read_pretty(&mut reader, pretty)?, plans: read_plans(&mut reader, bytes, plans)? })
    }
}

fn elements<const N: usize>(reader: &mut Reader<'_>, term: Term) -> Option<[Term; N]> {
    let Value::Tuple(mut tuple) = reader.read(term) else { return None };
    if tuple != N {
        return None;
    }
    let mut terms = [term; N];
    for slot in &mut terms {
        *slot = reader.next_element(&mut tuple)?;
        reader.pass(*slot);
    }
    Some(terms)
}

fn binary<'t>(reader: &mut Reader<'t>, term: Term) -> Option<&'t [u8]> {
    match reader.read(term) {
        Value::Binary(bytes) => Some(bytes),
        _ => None,
    }
}

fn read_pretty<'t>(reader: &mut Reader<'t>, term: Term) -> Option<Option<Pretty<'t>>> {
    if matches!(reader.read(term), Value::Nil) {
        return Some(None);
    }
    let [indent, line_separator, after_colon] = elements(reader, term)?;
    Some(Some(Pretty {
        indent: binary(reader, indent)?,
        line_separator: binary(reader, line_separator)?,
        after_colon: binary(reader, after_colon)?,
    }))
}

fn read_plans<'t>(reader: &mut Reader<'t>, bytes: &'t [u8], term: Term) -> Option<Vec<PlannedStruct<'t>>> {
    let map = match reader.read(term) {
        Value::Nil => return Some(Vec::new()),
        Value::Map(map) => map,
        _ => return None,
    };
    let mut plans = Vec::new();
    let mut entries = reader.entries(&map, false, true);
    while let Some((module, fields)) = reader.next_entry(&mut entries) {
        let module = atom_at(bytes, module.offset())?;
        plans.push(PlannedStruct { module, fields: read_fields(reader, bytes, fields)? });
    }
    Some(plans)
}

fn read_fields<'t>(reader: &mut Reader<'t>, bytes: &'t [u8], term: Term) -> Option<Vec<&'t [u8]>> {
    let Value::Tuple(mut tuple) = reader.read(term) else { return None };
    let mut fields = Vec::new();
    while let Some(field) = reader.next_element(&mut tuple) {
        fields.push(atom_at(bytes, field.offset())?);
        reader.pass(field);
    }
    Some(fields)
}
