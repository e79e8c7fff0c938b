//! Plans of derived structs, which a shell that has no terms hands over as a term: `%{module => {field, ...}}`, or
//! `%{module => {{field, ...}, {name, ...} | nil, {module | nil, ...} | nil}}`.

use super::head::atom_at;
use super::reader::{PlannedStruct, Reader, Term};
use crate::encode::{TermReader, Value};
use alloc::vec::Vec;

/// Reads them; no bytes stand for none. `None`: it is not of this form.
pub fn parse(bytes: &[u8]) -> Option<Vec<PlannedStruct<'_>>> {
    let mut plans = Vec::new();
    if bytes.is_empty() {
        return Some(plans);
    }
    let mut reader = Reader::new(bytes, &[]);
    let root = reader.root()?;
    let Value::Map(map) = reader.read(root) else { return None };
    let mut entries = reader.entries(&map, false, true)?;
    while let Some((module, fields)) = reader.next_entry(&mut entries) {
        let module = atom_at(bytes, module.offset())?;
        plans.push(read_plan(&mut reader, bytes, module, fields)?);
    }
    Some(plans)
}

fn read_plan<'t>(reader: &mut Reader<'t>, bytes: &'t [u8], module: &'t [u8], plan: Term) -> Option<PlannedStruct<'t>> {
    let Value::Tuple(mut parts) = reader.read(plan) else { return None };
    let first = reader.next_element(&mut parts);
    if !first.is_some_and(|first| matches!(reader.read(first), Value::Tuple(_))) {
        return Some(PlannedStruct { module, fields: read_fields(reader, bytes, plan)?, names: None, omitted: None });
    }
    let fields = read_fields(reader, bytes, first?)?;
    let [names, omitted] = [(); 2].map(|()| {
        let part = reader.next_element(&mut parts)?;
        let part_fields = read_fields(reader, bytes, part);
        if part_fields.is_none() {
            reader.pass(part);
        }
        part_fields
    });
    Some(PlannedStruct { module, fields, names, omitted })
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
