//! URIs in the form of `URI.to_string/1` (RFC 3986 section 5.3).

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

/// The parts of a URI.
pub struct Uri<'t> {
    scheme: Option<&'t [u8]>,
    authority: Authority<'t>,
    path: Option<&'t [u8]>,
    query: Option<&'t [u8]>,
    fragment: Option<&'t [u8]>,
}

enum Authority<'t> {
    Parts { userinfo: Option<&'t [u8]>, host: &'t [u8], port: Option<i64> },
    Text(Option<&'t [u8]>),
}

impl<'t> Uri<'t> {
    /// `None` leaves it to Elixir, also where Elixir raises.
    pub fn read<R: TermReader<'t>>(reader: &mut R, map: &R::Map) -> Option<Self> {
        let scheme = part(reader, map, Known::Scheme)?;
        let port = port(reader, map, scheme)?;
        let text = part(reader, map, Known::Authority)?;
        let userinfo = part(reader, map, Known::Userinfo)?;
        let host = part(reader, map, Known::Host)?;
        let path = part(reader, map, Known::Path)?;
        let query = part(reader, map, Known::Query)?;
        let fragment = part(reader, map, Known::UriFragment)?;
        let relative = path.is_some_and(|path| !path.is_empty() && path[0] != b'/');
        if host.is_some() && relative {
            return None;
        }
        let authority = match host {
            Some(host) => Authority::Parts { userinfo, host, port },
            None => Authority::Text(text),
        };
        Some(Self { scheme, authority, path, query, fragment })
    }

    /// Length of the text, but for the few bytes between the parts.
    pub fn len(&self) -> usize {
        let (first, second) = match self.authority {
            Authority::Parts { userinfo, host, .. } => (userinfo, Some(host)),
            Authority::Text(text) => (text, None),
        };
        [self.scheme, first, second, self.path, self.query, self.fragment].iter().flatten().map(|part| part.len()).sum()
    }

    /// Appends the text.
    pub fn write(&self, text: &mut Text) {
        join(text, [b"", b":"], self.scheme);
        match self.authority {
            Authority::Parts { userinfo, host, port } => write_authority(text, userinfo, host, port),
            Authority::Text(authority) => join(text, [b"//", b""], authority),
        }
        join(text, [b"", b""], self.path);
        join(text, [b"?", b""], self.query);
        join(text, [b"#", b""], self.fragment);
    }
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
