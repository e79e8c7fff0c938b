# Speed on large and odd documents, and with many processes at once: mix run bench/stress_bench.exs [--quick]
# From the project's root, with no package. RUSTYJSON_CORPUS names a folder of public documents. script/bench measures the
# same and more, with other libraries.
Code.require_file("load.exs", __DIR__)

sections = ["nativejson", "settlement", "sizes", "load"]
apply(RustyJson.Bench, :run, [%{sections: sections, quick: "--quick" in System.argv(), out: nil}])
