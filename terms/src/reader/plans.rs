//! The plans of a call, and those of them that a walk has used.

use super::Terms;
use crate::atoms;
use crate::plan::Plan;
use crate::raw::read::{Look, Raw};
use rustler::Env;
use rustyjson_core::encode::TermReader;

/// The plans of a call: a map from modules to tuples of fields, or such a map with a module and its plan, which is current.
#[derive(Clone, Copy)]
pub struct Plans<'a> {
    pub(super) map: Option<Raw<'a>>,
    pub(super) looked_at: Option<(Raw<'a>, Raw<'a>)>,
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
        if plans == Raw::atom(atoms::nil()) {
            Self { map: None, looked_at: None }
        } else {
            Self::read_some(look, plans)
        }
    }

    #[inline(never)]
    fn read_some(look: Look<'a>, plans: Raw<'a>) -> Self {
        match look.tuple(plans) {
            Some([plans, module, plan]) => Self { map: Some(*plans), looked_at: Some((*module, *plan)) },
            _ => Self { map: Some(plans), looked_at: None },
        }
    }
}

impl<'a> Terms<'a, '_> {
    /// The modules whose plans were used.
    pub fn used_plans(&self) -> impl Iterator<Item = Raw<'a>> {
        self.used.iter().chain(&self.more_used).map(|plan| plan.module)
    }

    /// Those of them of which the caller does not know that they are current.
    pub fn unchecked_plans(&self) -> impl Iterator<Item = Raw<'a>> {
        self.used_plans().filter(|module| self.plan_looked_at(*module).is_none())
    }

    /// Whether the caller knows that all plans used are current: none, or that of the module it has looked at.
    #[inline(always)]
    pub fn used_known_plans(&self) -> bool {
        self.more_used.is_empty() && self.used.as_ref().is_none_or(|plan| self.plan_looked_at(plan.module).is_some())
    }

    /// The plan of this module, if the caller has looked at it.
    #[inline(always)]
    pub(super) fn plan_looked_at(&self, module: Raw<'a>) -> Option<Raw<'a>> {
        self.looked_at.filter(|(looked_at, _)| looked_at.word() == module.word()).map(|(_, plan)| plan)
    }

    /// The plan of this module.
    #[inline(always)]
    pub(super) fn plan_of(&self, module: Raw<'a>) -> Option<Plan<'a>> {
        let plan = match self.plan_looked_at(module) {
            Some(plan) => plan,
            None => self.look.map_get(self.plans?, module)?,
        };
        Plan::of(self.look, module, plan)
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
