//! The atoms that the core knows by name: modules of structs it encodes itself, their fields and some values.

macro_rules! known {
    ($($name:ident = $text:literal,)*) => {
        /// A well-known atom.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        #[allow(missing_docs)]
        pub enum Known { $($name,)* }

        impl Known {
            /// All of them, in the order of their numbers.
            pub const ALL: &[Known] = &[$(Known::$name,)*];

            /// The atom's text.
            pub const fn text(self) -> &'static str {
                match self { $(Known::$name => $text,)* }
            }

            /// The atom with this text.
            pub fn find(text: &[u8]) -> Option<Known> {
                Known::ALL.iter().copied().find(|name| name.text().as_bytes() == text)
            }
        }
    };
}

#[allow(non_upper_case_globals)]
mod table {
    known! {
        Date = "Elixir.Date",
        Time = "Elixir.Time",
        NaiveDateTime = "Elixir.NaiveDateTime",
        DateTime = "Elixir.DateTime",
        Duration = "Elixir.Duration",
        Decimal = "Elixir.Decimal",
        Uri = "Elixir.URI",
        MapSet = "Elixir.MapSet",
        Range = "Elixir.Range",
        Fragment = "Elixir.RustyJson.Fragment",
        OrderedObject = "Elixir.RustyJson.OrderedObject",
        IsoCalendar = "Elixir.Calendar.ISO",
        Struct = "__struct__",
        Authority = "authority",
        Calendar = "calendar",
        Coef = "coef",
        Day = "day",
        Encode = "encode",
        Exp = "exp",
        First = "first",
        UriFragment = "fragment",
        Host = "host",
        Hour = "hour",
        Last = "last",
        Map = "map",
        Microsecond = "microsecond",
        Minute = "minute",
        Month = "month",
        Path = "path",
        Port = "port",
        Query = "query",
        Scheme = "scheme",
        Second = "second",
        Sign = "sign",
        StdOffset = "std_offset",
        Step = "step",
        TimeZone = "time_zone",
        Userinfo = "userinfo",
        UtcOffset = "utc_offset",
        Values = "values",
        Week = "week",
        Year = "year",
        ZoneAbbr = "zone_abbr",
        NotANumber = "NaN",
        Infinity = "inf",
    }
}
pub use table::Known;

impl Known {
    /// Number of names that are modules of structs; they come first.
    pub const MODULES: usize = Known::OrderedObject as usize + 1;
}
