//! What a shell supplies to encode from.

use super::known::Known;

/// A term, looked at once. Containers give cursors; atoms and big integers give their text or digits when asked.
#[derive(Debug)]
pub enum Value<'t, R: TermReader<'t> + ?Sized> {
    /// The atom `nil`.
    Nil,
    /// The atom `true`.
    True,
    /// The atom `false`.
    False,
    /// Any other atom: see [`TermReader::atom_text`].
    Atom,
    /// An integer of 64 bits.
    Integer(i64),
    /// A larger integer: see [`TermReader::big_integer`].
    Big,
    /// A float.
    Float(f64),
    /// A binary.
    Binary(&'t [u8]),
    /// A list, perhaps improper.
    List(R::List),
    /// A tuple.
    Tuple(R::Tuple),
    /// A map, perhaps a struct.
    Map(R::Map),
    /// Anything JSON has no form for: pids, references, functions, ports, bitstrings.
    Other,
    /// No term: the bytes are broken. Terms of a running system never are.
    Broken,
}

/// What comes next in a list.
#[derive(Clone, Copy, Debug)]
pub enum Step<T> {
    /// An element.
    Item(T),
    /// The end of a proper list.
    End,
    /// The tail of an improper one.
    Tail(T),
}

/// What a look along a list finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// Its end.
    Proper,
    /// A tail that is not a list.
    Improper,
    /// More elements.
    More,
}

/// The text of an atom.
#[derive(Clone, Copy, Debug)]
pub struct AtomText<'a> {
    /// UTF-8.
    pub bytes: &'a [u8],
    /// `"text":` at the start of a block, for a text known to be ASCII without anything that some escape mode escapes: it
    /// may be written without a look. Blocks are copied whole, a library call for so few bytes costs more.
    pub plain: Option<&'a Block>,
}

/// What a short plain text stands in.
pub type Block = [u8; 54];

/// ASCII that no escape mode touches.
pub const fn is_plain(byte: u8) -> bool {
    matches!(byte, 0x20..0x80) && !matches!(byte, b'"' | b'\\' | b'/' | b'<')
}

/// A field, and the value of a struct there.
pub type Member<F, T> = (F, Option<T>);

/// What the derivation of a struct says beside the fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanRules {
    /// How fields are named, whatever the call says.
    pub renames: bool,
    /// Which values are left out, whatever the call says.
    pub omits: bool,
    /// `nil` is one of them.
    pub omits_nil: bool,
    /// Structs of some modules are.
    pub omits_structs: bool,
}

/// Lets the driver walk a term. Cursors are small copies; the reader may rely on this order: what is handed out is
/// either read whole (a container up to its end) or passed by [`TermReader::pass`] before the next step of its
/// container. Terms of a format without random access stay cheap that way.
pub trait TermReader<'t> {
    /// Whether a term can hold the same part many times. What is taken back could then be any number of times as much as the term, so the
    /// walk looks ahead where it can.
    const SHARES: bool = false;

    /// A term.
    type Term: Copy;
    /// A place in a list.
    type List: Copy;
    /// A place in a tuple.
    type Tuple: Copy;
    /// A map.
    type Map: Copy;
    /// A walk over the entries of a map. Walks are nested as the maps are.
    type Entries: Copy;
    /// A place in the values of a map.
    type Values: Copy;
    /// A place in the plan of a struct.
    type Plan: Copy;
    /// A field of a struct, by name.
    type Field: Copy;

    /// Looks at a term.
    fn read(&mut self, term: Self::Term) -> Value<'t, Self>;
    /// The text of an atom.
    fn atom_text(&mut self, atom: Self::Term) -> AtomText<'_>;
    /// Sign and little-endian magnitude of a big integer: true when negative.
    fn big_integer(&mut self, term: Self::Term) -> (bool, &[u8]);

    /// The next element of a list.
    fn next_item(&mut self, list: &mut Self::List) -> Step<Self::Term>;
    /// Passes this many elements of a list, which is the whole of this term or the rest of it, to see how the list ends. The walk does not
    /// move.
    fn look_along(&mut self, _list: Self::Term, rest: &mut Self::List, elements: usize) -> Ahead {
        for _ in 0..elements {
            match self.next_item(rest) {
                Step::Item(_) => {}
                Step::End => return Ahead::Proper,
                Step::Tail(_) => return Ahead::Improper,
            }
        }
        Ahead::More
    }
    /// The next element of a tuple.
    fn next_element(&mut self, tuple: &mut Self::Tuple) -> Option<Self::Term>;

    /// How many entries a map has.
    fn map_size(&mut self, map: &Self::Map) -> usize;
    /// Starts a walk over a map in the order of `Map.to_list/1`. `reverse`: maps above 32 keys backwards. `scattered`: the
    /// values will be read later and in another order, and need not be passed. `None`: memory has run out.
    fn entries(&mut self, map: &Self::Map, reverse: bool, scattered: bool) -> Option<Self::Entries>;
    /// The next key and value of the innermost walk.
    fn next_entry(&mut self, entries: &mut Self::Entries) -> Option<(Self::Term, Self::Term)>;
    /// Ends the innermost walk.
    fn end_entries(&mut self);
    /// The values of a map that has a number of its keys, in their order.
    fn values(&mut self, map: &Self::Map) -> Self::Values;
    /// The next of them.
    fn next_value(&mut self, values: &mut Self::Values) -> Option<Self::Term>;
    /// The value of `__struct__`, when it is an atom.
    fn module(&mut self, map: &Self::Map) -> Option<Self::Term>;
    /// The value of a field of a struct.
    fn field(&mut self, map: &Self::Map, name: Known) -> Option<Self::Term>;
    /// Which well-known name an atom is.
    fn known(&mut self, atom: Self::Term) -> Option<Known>;
    /// Tells that a map that was read by fields, or by entries in part, is done with.
    fn leave(&mut self, map: &Self::Map);
    /// Tells that a term is not going to be read.
    fn pass(&mut self, term: Self::Term);

    /// A number of the keys of this map, and of the plan if it is a struct with one: an even number, the same for maps with the same keys as
    /// long as the walk lasts. `None`: there is none.
    fn number_of_keys(&self, _map: &Self::Map, _plan: Option<&Self::Plan>) -> Option<u64> {
        None
    }
    /// The same, but maps with equal keys have one number although they do not share them. It takes longer.
    fn number_of_equal_keys(&self, map: &Self::Map, plan: Option<&Self::Plan>) -> Option<u64> {
        self.number_of_keys(map, plan)
    }
    /// A number of this atom, other than 0 and the same in all walks of this shell. `None`: there is none.
    fn number_of_atom(&self, _atom: Self::Term) -> Option<u64> {
        None
    }
    /// The same of a field's own name.
    fn number_of_field(&self, _field: Self::Field) -> Option<u64> {
        None
    }
    /// Whether all keys of a map that has such a number are strings or atoms that pass. The function is told which ones are atoms.
    fn keys_pass(&mut self, _map: &Self::Map, _passes: impl Fn(&[u8], bool) -> bool) -> bool {
        false
    }
    /// Whether a value of this map may be `nil` or, with `structs`, a struct. `true` where that takes a longer look.
    fn may_omit(&mut self, _map: &Self::Map, _structs: bool) -> bool {
        true
    }

    /// Reports work that the output does not show, as a number of bytes.
    fn charge(&mut self, _bytes: usize) {}
    /// The budget of work is used up: how many more bytes may be written before this is asked again; 0 to stop here.
    fn extend_budget(&mut self) -> usize {
        0
    }

    /// What is left of a list, as a term. `None`, here and below: this reader cannot tell, and a walk over it cannot be
    /// suspended.
    fn rest_of_list(&self, _list: &Self::List) -> Option<Self::Term> {
        None
    }
    /// The map of the open walk with this number, counted from the outermost, and how many entries it has given.
    fn place_in_map(&self, _walk: usize) -> Option<(Self::Term, usize)> {
        None
    }
    /// A place in a list.
    fn list_from(&mut self, _rest: Self::Term) -> Option<Self::List> {
        None
    }
    /// Starts a walk over a map behind as many entries.
    fn map_from(&mut self, _map: Self::Term, _written: usize, _reverse: bool) -> Option<Self::Entries> {
        None
    }

    /// The plan for structs of this module, when it was handed in.
    fn plan(&mut self, module: Self::Term) -> Option<Self::Plan>;
    /// The next field of a plan with the value that the struct has there (`None` when it lacks the field).
    fn next_planned(&mut self, plan: &mut Self::Plan, map: &Self::Map) -> Option<Member<Self::Field, Self::Term>>;
    /// The text of the name under which a field is written.
    fn field_text(&mut self, field: Self::Field) -> AtomText<'_>;
    /// The text of the field's own name.
    fn own_field_text(&mut self, field: Self::Field) -> AtomText<'_> {
        self.field_text(field)
    }
    /// What a plan says beside the fields.
    fn plan_rules(&self, _plan: &Self::Plan) -> PlanRules {
        PlanRules::default()
    }
    /// Whether a plan leaves out fields whose value is a struct of this module.
    fn plan_omits(&mut self, _plan: &Self::Plan, _module: Self::Term) -> bool {
        false
    }
    /// Whether a term is `nil`.
    #[inline(always)]
    fn is_nil(&mut self, term: Self::Term) -> bool {
        matches!(self.read(term), Value::Nil)
    }
}
