# Memory of one call, bytes that strings keep alive, longest runs on a scheduler: mix run bench/memory_bench.exs [--quick]
# From the project's root, with no package. script/bench measures the same and more, with other libraries.
Code.require_file("load.exs", __DIR__)

sections = ["memory", "fairness"]
apply(RustyJson.Bench, :run, [%{sections: sections, quick: "--quick" in System.argv(), out: nil}])
