//! The judge of untrusted External Term Format ends when there is no time: between values, and before the VM makes a large container. It
//! does not begin with what is too long.

use rustyjson_core::DecodeOptions;
use rustyjson_core::etf::check::{Fault, Open, Policy, Refused, build, build_list, check};
use rustyjson_core::etf::foreseen::Foreseen;

/// Far more than any term here needs.
fn policy() -> Policy {
    Policy::new(&DecodeOptions::DEFAULT, 1_000_000)
}

fn judged(etf: &[u8], nanoseconds: u64) -> Result<(), Refused> {
    build(etf, &policy(), &mut Open::default(), &mut Foreseen::new(nanoseconds, 0))
}

fn list(len: usize) -> Vec<u8> {
    [&[131, 108][..], &(len as u32).to_be_bytes(), &[97, 1].repeat(len), &[106]].concat()
}

/// A map with this many keys.
fn map(len: usize) -> Vec<u8> {
    let members = (0..len).map(|key| [&[109, 0, 0, 0, 5][..], format!("{key:05}").as_bytes(), &[97, 1]].concat());
    [vec![131, 116], (len as u32).to_be_bytes().to_vec(), members.collect::<Vec<_>>().concat()].concat()
}

fn fault(result: Result<(), Refused>) -> Option<Fault> {
    result.err().map(|refused| refused.fault)
}

#[test]
fn without_time_a_walk_ends_within_a_few_thousand_values() {
    let refused = judged(&list(100_000), 0).unwrap_err();
    assert_eq!(refused.fault, Fault::Work);
    assert!(refused.offset < 2 * 10_000, "{}", refused.offset);
}

/// The VM makes a container in one step, however large it is: ten nanoseconds for an element, 400 for a key.
#[test]
fn a_container_is_not_begun_that_would_end_late() {
    let (count, cheap) = if cfg!(miri) { (250, 2_500) } else { (5_000, 50_000) };
    for (etf, needed) in [(list(count), cheap), (map(count), 40 * cheap)] {
        assert_eq!(fault(judged(&etf, needed)), Some(Fault::Work), "{needed}");
        assert_eq!(judged(&etf, needed + 1), Ok(()), "{needed}");
    }
    let documents = |nanoseconds| {
        let policies = std::iter::repeat_n(policy(), count);
        build_list(&list(count), policies, &mut Open::default(), &mut Foreseen::new(nanoseconds, 0))
    };
    assert_eq!(fault(documents(cheap)), Some(Fault::Work));
    assert_eq!(documents(cheap + 1), Ok(()));
}

#[test]
fn an_answer_is_as_long_as_it_may_be() {
    let etf = list(10);
    let with = |max_len| check(&etf, &Policy { max_len, ..policy() });
    assert_eq!(with(etf.len()), Ok(()));
    assert_eq!(with(etf.len() - 1), Err(Refused { fault: Fault::Terms, offset: etf.len() - 1 }));
}
