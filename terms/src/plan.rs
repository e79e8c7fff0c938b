//! Plans: what to write for the structs of a module.

use crate::atoms;
use crate::raw::read::{Look, Raw};
use rustyjson_core::encode::PlanRules;

/// A plan as Elixir hands it over.
pub struct Plan<'a> {
    /// The module.
    pub module: Raw<'a>,
    /// The fields, in their order.
    pub fields: &'a [Raw<'a>],
    /// The names under which they are written: the same, unless the derivation says otherwise.
    pub names: &'a [Raw<'a>],
    /// `nil`, and modules of structs: fields with such a value are left out.
    pub omitted: &'a [Raw<'a>],
    /// What the derivation says.
    pub rules: PlanRules,
}

impl<'a> Plan<'a> {
    /// The plan of a module, as Elixir has it.
    pub fn of(look: Look<'a>, module: Raw<'a>, plan: Raw<'a>) -> Option<Self> {
        Some(Self::read(look, module, look.tuple(plan)?))
    }

    /// Takes a plan apart: `{field, ...}`, or `{{field, ...}, {name, ...} | nil, {module | nil, ...} | nil}`.
    #[cold]
    fn read(look: Look<'a>, module: Raw<'a>, plan: &'a [Raw<'a>]) -> Self {
        if let [fields, names, omitted] = plan
            && let Some(fields) = look.tuple(*fields)
        {
            let (names, omitted) = (look.tuple(*names), look.tuple(*omitted));
            let nil = Raw::atom(atoms::nil());
            let omits = |wanted: fn(bool) -> bool| omitted.iter().copied().flatten().any(|value| wanted(*value == nil));
            let rules = PlanRules {
                renames: names.is_some(),
                omits: omitted.is_some(),
                omits_nil: omits(|is_nil| is_nil),
                omits_structs: omits(|is_nil| !is_nil),
            };
            return Self {
                module,
                fields,
                names: names.unwrap_or(fields),
                omitted: omitted.unwrap_or_default(),
                rules,
            };
        }
        Self { module, fields: plan, names: plan, omitted: &[], rules: PlanRules::default() }
    }
}
