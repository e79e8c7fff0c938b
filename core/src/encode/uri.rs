//! URIs as `URI.to_string/1` puts them together (RFC 3986 section 5.3).

use super::known::Known;
use super::number::rare_integer;
use super::reader::{TermReader, Value};
use crate::output::Output;
use alloc::vec::Vec;

type Text = Output<Vec<u8>>;

/// The ports that Elixir knows; it leaves them out.
fn default_port(scheme: &[u8]) -> Option<i64> {
    match scheme {
        b"ftp" => Some(21),
        b"http" | b"ws" => Some(80),
        b"https" | b"wss" => Some(443),
        b"ldap" => Some(389),
        b"sftp" => Some(22),
        b"tftp" => Some(69),
        _ => None,
    }
}

/// A field that is a binary or nil.
fn part<'t, R: TermReader<'t>>(reader: &mut R, map: &R::Map, name: Known) -> Option<Option<&'t [u8]>> {
    let term = reader.field(map, name)?;
    match reader.read(term) {
        Value::Nil => Some(None),
        Value::Binary(bytes) => Some(Some(bytes)),
        _ => None,
    }
}

fn port<'t, R: TermReader<'t>>(reader: &mut R, map: &R::Map, scheme: Option<&[u8]>) -> Option<Option<i64>> {
    let term = reader.field(map, Known::Port)?;
    match (reader.read(term), scheme.map(default_port)) {
        (Value::Nil, _) => Some(None),
        (Value::Integer(port), Some(Some(default))) => Some((port != default).then_some(port)),
        (Value::Integer(port), None) => Some(Some(port)),
        // An application may have registered the scheme with a port of its own.
        _ => None,
    }
}

/// Appends the text; `None` leaves it to Elixir, also where it raises.
pub fn uri<'t, R: TermReader<'t>>(reader: &mut R, map: &R::Map, text: &mut Text) -> Option<()> {
    let scheme = part(reader, map, Known::Scheme)?;
    let port = port(reader, map, scheme)?;
    let authority = part(reader, map, Known::Authority)?;
    let userinfo = part(reader, map, Known::Userinfo)?;
    let host = part(reader, map, Known::Host)?;
    let path = part(reader, map, Known::Path)?;
    let query = part(reader, map, Known::Query)?;
    let fragment = part(reader, map, Known::UriFragment)?;
    let relative = path.is_some_and(|path| !path.is_empty() && path[0] != b'/');
    if host.is_some() && relative {
        return None;
    }
    join(text, [b"", b":"], scheme);
    match host {
        Some(host) => write_authority(text, userinfo, host, port),
        None => join(text, [b"//", b""], authority),
    }
    join(text, [b"", b""], path);
    join(text, [b"?", b""], query);
    join(text, [b"#", b""], fragment);
    Some(())
}

fn join(text: &mut Text, around: [&[u8]; 2], part: Option<&[u8]>) {
    if let Some(part) = part {
        text.text(around[0]);
        text.text(part);
        text.text(around[1]);
    }
}

fn write_authority(text: &mut Text, userinfo: Option<&[u8]>, host: &[u8], port: Option<i64>) {
    text.text(b"//");
    join(text, [b"", b"@"], userinfo);
    let brackets: [&[u8]; 2] = if host.contains(&b':') { [b"[", b"]"] } else { [b"", b""] };
    join(text, brackets, Some(host));
    if let Some(port) = port {
        text.text(b":");
        rare_integer(text, port);
    }
}
