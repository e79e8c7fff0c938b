//! The plans of a call, and those of them that a walk has used.

use super::Terms;
use crate::atoms;
use crate::plan::Plan;
use crate::raw::read::{Look, Raw};
use rustler::Env;
use rustyjson_core::encode::TermReader;

/// The plans of a call: a map from modules to tuples of fields, or such a map and a module whose plan is current.
#[derive(Clone, Copy)]
pub struct Plans<'a> {
    pub(super) map: Option<Raw<'a>>,
    pub(super) looked_at: usize,
}

impl<'a> Plans<'a> {
    /// Those that a call was given.
    #[inline(always)]
    pub fn of(env: Env<'a>, plans: Raw<'a>) -> Self {
        Self::read(Look::new(env), plans)
    }

    #[inline(always)]
    fn read(look: Look<'a>, plans: Raw<'a>) -> Self {
        // Mostly there are none.
        if plans == Raw::atom(atoms::nil()) { Self { map: None, looked_at: 0 } } else { Self::read_some(look, plans) }
    }

    #[inline(never)]
    fn read_some(look: Look<'a>, plans: Raw<'a>) -> Self {
        let (plans, looked_at) = match look.tuple(plans) {
            Some([plans, module]) => (*plans, module.word()),
            _ => (plans, 0),
        };
        Self { map: look.map_size(plans).map(|_| plans), looked_at }
    }
}

impl<'a> Terms<'a, '_> {
    /// The modules whose plans were used.
    pub fn used_plans(&self) -> impl Iterator<Item = Raw<'a>> {
        self.used.iter().chain(&self.more_used).map(|plan| plan.module)
    }

    /// Whether the caller knows that all plans used are current: none, or that of the module it has looked at.
    #[inline(always)]
    pub fn used_known_plans(&self) -> bool {
        self.more_used.is_empty() && self.used.as_ref().is_none_or(|plan| plan.module.word() == self.looked_at)
    }

    #[inline(always)]
    pub(super) fn used(&self, number: usize) -> Option<&Plan<'a>> {
        match number.checked_sub(1) {
            None => self.used.as_ref(),
            Some(place) => self.more_used.get(place),
        }
    }

    /// Sets the modules whose plans an earlier part of the walk used.
    pub fn add_used_plans(&mut self, modules: impl Iterator<Item = Raw<'a>>) {
        for module in modules {
            self.plan(module);
        }
    }
}
