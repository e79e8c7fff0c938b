# Prints an escript that loads /tmp/librustyjson_nif.so with Erlang alone, for systems without Elixir. OTP 23 does not load it, because it
# lacks functions of NIF version 2.16, which is that of OTP 24.
source = File.read!(Path.expand("../lib/rustyjson/engine/native/nif.ex", __DIR__))

stubs =
  for [name | arguments] <-
        Regex.scan(~r/^  def (\w+)(?:\((.*)\))?, do: :erlang\.nif_error/m, source, capture: :all_but_first) do
    {name, arguments |> Enum.join() |> String.split(",", trim: true) |> length()}
  end

forms =
  [
    "-module('Elixir.RustyJson.Engine.Native.Nif').",
    "-compile(export_all).",
    "load(File) -> erlang:load_nif(File, 0)."
  ] ++
    for {name, arity} <- stubs do
      "#{name}(#{Enum.map_join(1..arity//1, ", ", fn _ -> "_" end)}) -> erlang:nif_error(not_loaded)."
    end

IO.puts("""
#!/usr/bin/env escript
main(_) ->
    Forms = [begin {ok, Tokens, _} = erl_scan:string(Text), {ok, Form} = erl_parse:parse_form(Tokens), Form end || Text <- forms()],
    {ok, Nif, Beam} = compile:forms(Forms, [nowarn_export_all]),
    {module, Nif} = code:load_binary(Nif, "nif", Beam),
    Release = list_to_integer(erlang:system_info(otp_release)),
    io:format("OTP ~b: ", [Release]),
    case Nif:load("/tmp/librustyjson_nif") of
        ok -> io:format("loaded; interface ~p~n", [Nif:abi_version()]);
        {error, {_, Text}} when Release < 24 -> io:format("too old: ~s~n", [Text]);
        Failed -> io:format("failed: ~p~n", [Failed]), halt(1)
    end.

forms() ->
    [#{Enum.map_join(forms, ",\n     ", &inspect/1)}].
""")
